"""Prints messages as the SDKs of OpenAI and Anthropic dump them, or checks with their types what a context hands over.

`dump` prints `{"openai": [...], "anthropic": [...]}`; `check openai|anthropic` reads `{"messages": [...], "system": ...}` from
standard input. Nothing is sent anywhere.
"""

import json
import sys

from anthropic.types import Message, MessageParam, TextBlockParam
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
from pydantic import TypeAdapter

CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"page": 3}'}}
USAGE = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}


def completion(message, finish_reason):
    """Returns the message of an answer of the chat API, as its SDK dumps it."""
    answer = ChatCompletion.model_validate(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1795000000,
            "model": "gpt-4o",
            "system_fingerprint": "fp_1",
            "usage": USAGE,
            "choices": [{"index": 0, "finish_reason": finish_reason, "logprobs": None, "message": message}],
        }
    )
    return answer.choices[0].message.model_dump()


def answer(content, stop_reason):
    """Returns an answer of the messages API, as its SDK dumps it."""
    message = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 20, "output_tokens": 9},
            "content": content,
        }
    )
    return message.model_dump()


def dump():
    openai = [
        {"role": "developer", "content": "Answer in one sentence."},
        {"role": "user", "content": [{"type": "text", "text": "Which row is the invoice of March in?"},
                                     {"type": "image_url", "image_url": {"url": "https://pictures.example/1.png", "detail": "low"}}]},
        completion({"role": "assistant", "content": None, "refusal": None, "annotations": [], "tool_calls": [CALL]}, "tool_calls"),
        {"role": "tool", "tool_call_id": "call_1", "content": "The invoice of March is in row 17."},
        completion({"role": "assistant", "content": "It is in row 17.", "refusal": None, "annotations": []}, "stop"),
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "file_1"}}, {"type": "text", "text": "Delete it."}]},
        completion({"role": "assistant", "content": None, "refusal": "I will not delete an invoice."}, "stop"),
    ]
    thinking = {"type": "thinking", "thinking": "The rows are sorted by date.", "signature": "c2ln"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"page": 3}}
    anthropic = [
        {"role": "user", "content": "Which row is the invoice of March in?"},
        answer([thinking, {"type": "text", "text": "I will look.", "citations": None}, use], "tool_use"),
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": False,
                                      "content": [{"type": "text", "text": "The invoice of March is in row 17."}]}]},
        answer([{"type": "redacted_thinking", "data": "ZW5j"},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "invoice"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
                 "content": [{"type": "web_search_result", "url": "https://example.org/", "title": "Invoices",
                              "encrypted_content": "ZW5j", "page_age": None}]},
                {"type": "text", "text": "It is in row 17."}], "end_turn"),
    ]
    print(json.dumps({"openai": openai, "anthropic": anthropic}))


def check(vendor):
    given = json.load(sys.stdin)
    kind = ChatCompletionMessageParam if vendor == "openai" else MessageParam
    for message in given["messages"]:
        TypeAdapter(kind).validate_python(message)
    if vendor == "anthropic" and given.get("system"):
        for block in given["system"]:
            TypeAdapter(TextBlockParam).validate_python(block)
    print(f"{len(given['messages'])} messages fit")


if __name__ == "__main__":
    dump() if sys.argv[1] == "dump" else check(sys.argv[2])
