"""Play an episode over MCP with smolagents; its server and a model are on this machine."""

from smolagents import OpenAIModel, ToolCallingAgent, ToolCollection

model = OpenAIModel("any", api_base="http://127.0.0.1:9000/v1", api_key="none")
server = {
    "url": "http://127.0.0.1:8000/mcp?episode=smolagents&seed=7",
    "transport": "streamable-http",
}
with ToolCollection.from_mcp(server, trust_remote_code=True, structured_output=False) as papers:
    agent = ToolCallingAgent(tools=[*papers.tools], model=model, max_steps=30)
    print(
        agent.run("Call a tool to see the budget, then find the papers that a survey would cite.")
    )
