"""Play an episode over MCP with LangChain; its server and a model are on this machine."""

import asyncio

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


async def main():
    model = ChatOpenAI(model="any", base_url="http://127.0.0.1:9000/v1", api_key="none")
    url = "http://127.0.0.1:8000/mcp?episode=langchain&seed=7"
    client = MultiServerMCPClient({"papers": {"transport": "streamable_http", "url": url}})
    async with client.session("papers") as session:
        agent = create_react_agent(model, await load_mcp_tools(session))
        answer = await agent.ainvoke({"messages": await load_mcp_prompt(session, "task")})
        print(answer["messages"][-1].content)


asyncio.run(main())
