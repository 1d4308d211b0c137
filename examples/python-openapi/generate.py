"""Writes a Python module with a function per operation of an OpenAPI document: generate.py DOCUMENT > MODULE."""

import json
import keyword
import sys
import urllib.request


def resolved(document, value):
    for step in value.get("$ref", "").split("/")[1:]:
        document = document[step]
    return document if "$ref" in value else value


def argument(name):
    return f"{name}_" if keyword.iskeyword(name) else name


def function(document, prefix, path, method, operation):
    parameters = [resolved(document, each) for each in operation.get("parameters", [])]
    asked = [each for each in parameters if each["in"] in ("path", "query")]
    has_body, has_key = "requestBody" in operation, any(each["name"] == "Idempotency-Key" for each in parameters)
    names = [argument(each["name"]) for each in asked if each.get("required")]
    names += ["body"] if has_body else []
    names += [f"{argument(each['name'])}=None" for each in asked if not each.get("required")]
    places = {
        place: ", ".join(f'"{each["name"]}": {argument(each["name"])}' for each in asked if each["in"] == place)
        for place in ("path", "query")
    }
    return f'''
def {operation["operationId"]}(send, {", ".join(names)}):
    """{operation["summary"]}."""
    return send("{method.upper()}", "{prefix}{path}", {{{places["path"]}}}, {{{places["query"]}}}, {"body" if has_body else None}, {has_key})
'''


with urllib.request.urlopen(sys.argv[1]) as answer:
    document = json.load(answer)
prefix = document["servers"][0]["url"].rstrip("/")
for path, item in document["paths"].items():
    own = item.get("servers", [{"url": prefix}])[0]["url"].rstrip("/")
    for method, operation in item.items():
        if method != "servers":
            print(function(document, own, path, method, operation))
