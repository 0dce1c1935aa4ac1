"""Play an episode over MCP with openai-agents; its server and a model are on this machine."""

import asyncio

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI


async def main():
    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel(
        "any", AsyncOpenAI(base_url="http://127.0.0.1:9000/v1", api_key="none")
    )
    url = "http://127.0.0.1:8000/mcp?episode=openai-agents&seed=7"
    async with MCPServerStreamableHttp({"url": url}) as server:
        task = (await server.get_prompt("task")).messages[0].content.text
        agent = Agent("researcher", model=model, mcp_servers=[server])
        print((await Runner.run(agent, task, max_turns=30)).final_output)


asyncio.run(main())
