"""An OpenAI-compatible application for Ray Serve that needs no model."""

import asyncio
import json

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from ray import serve

GAP_S = 0.005
api = FastAPI()


def event(more):
    chunk = {"id": "c", "object": "chat.completion.chunk", "model": "tiny", **more}
    return "data: " + json.dumps(chunk, separators=(",", ":")) + "\n\n"


@serve.deployment(name="Model", max_ongoing_requests=100, ray_actor_options={"num_cpus": 0})
@serve.ingress(api)
class Model:
    @api.get("/v1/models")
    async def models(self):
        return {"object": "list", "data": [{"id": "tiny", "object": "model"}]}

    @api.post("/v1/chat/completions")
    async def chat(self, request: Request):
        # Clients of the drills send no content type.
        body = json.loads(await request.body())
        count = body["max_tokens"]
        usage = {"prompt_tokens": 1, "completion_tokens": count, "total_tokens": count + 1}
        if not body.get("stream"):
            await asyncio.sleep(GAP_S * count)
            message = {"role": "assistant", "content": "a " * count}
            choices = [{"index": 0, "message": message, "finish_reason": "length"}]
            return JSONResponse({"id": "c", "object": "chat.completion", "model": "tiny", "choices": choices, "usage": usage})

        async def events():
            for number in range(count):
                await asyncio.sleep(GAP_S)
                reason = "length" if number == count - 1 else None
                yield event({"choices": [{"index": 0, "delta": {"content": "a "}, "finish_reason": reason}]})
            yield event({"choices": [], "usage": usage})
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")


app = Model.bind()
