"""Runs one client of the gateway: clients.py NAME BASE_URL MODEL. Exits with 0 when all it tries works."""

import sys

NAME, URL, MODEL = sys.argv[1:4]
HELLO = [{"role": "user", "content": "Tell me something."}]


def expect(condition: bool, problem: str) -> None:
    if not condition:
        sys.exit(f"{NAME}: {problem}")


def openai_client() -> None:
    import openai

    client = openai.OpenAI(base_url=f"{URL}/v1", api_key="none", max_retries=0)
    whole = client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=8)
    expect(whole.usage.completion_tokens == 8, "a completion has no usage")
    stream = client.chat.completions.create(
        model=MODEL, messages=HELLO, max_tokens=8, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    expect(text == whole.choices[0].message.content, "a stream differs from the whole response")
    expect(chunks[-1].usage.completion_tokens == 8, "a stream has no usage")
    expect(client.models.retrieve(MODEL).max_model_len > 0, "a model has no max_model_len")
    expect(len(client.embeddings.create(model=MODEL, input="a").data[0].embedding) > 0, "no embedding")
    try:
        client.chat.completions.create(model="missing", messages=HELLO)
        expect(False, "an unknown model is served")
    except openai.NotFoundError as error:
        expect(error.code == "model_not_found", "an error has another code")


def langchain_client() -> None:
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(base_url=f"{URL}/v1", api_key="none", model=MODEL, max_tokens=8, max_retries=0)
    whole = chat.invoke("Tell me something.")
    expect(whole.usage_metadata["output_tokens"] == 8, "a completion has no usage")
    text = "".join(chunk.content for chunk in chat.stream("Tell me something."))
    expect(text == whole.content, "a stream differs from the whole response")


def litellm_client() -> None:
    import litellm

    settings = {"api_base": f"{URL}/v1", "api_key": "none", "max_tokens": 8, "num_retries": 0}
    whole = litellm.completion(model=f"openai/{MODEL}", messages=HELLO, **settings)
    expect(whole.usage.completion_tokens == 8, "a completion has no usage")
    chunks = litellm.completion(model=f"openai/{MODEL}", messages=HELLO, stream=True, **settings)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    expect(text == whole.choices[0].message.content, "a stream differs from the whole response")
    settings["api_base"] = URL
    message = litellm.completion(model=f"anthropic/{MODEL}", messages=HELLO, **settings)
    expect(message.usage.completion_tokens == 8, "a message has no usage")


{"openai": openai_client, "langchain": langchain_client, "litellm": litellm_client}[NAME]()
print(f"{NAME}: ok")
