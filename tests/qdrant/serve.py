"""Qdrant's own engine (`qdrant-edge-py`) behind the part of its REST interface that afd uses, for tests.

`python3 serve.py` listens on the loopback, prints its URL, and keeps its collections in a temporary directory. It
refuses what Qdrant refuses, with its statuses and words.
"""

import json
import re
import shutil
import signal
import tempfile
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import qdrant_edge as edge

# Maximum size of a request, as Qdrant's settings have it, bytes.
MAX_REQUEST = 32 << 20


class Refusal(Exception):
    """What is answered instead of a result: the status, and what Qdrant says."""

    def __init__(self, status, error):
        super().__init__(error)
        self.status = status


def wrong(why):
    return Refusal(400, f"Wrong input: {why}")


def invalid(why):
    return Refusal(422, f"Validation error in JSON body: [{why}]")


def malformed(why):
    return Refusal(400, f"Format error in JSON body: {why}")


def point_id(value):
    """Returns the id of a point: a number, or a UUID."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    try:
        return uuid.UUID(value)
    except (AttributeError, TypeError, ValueError):
        raise malformed(f"value {value!r} is not a valid point ID") from None


class Flag:
    """A truth value. The binding tries numbers first, and would take `False` for 0; it knows NumPy's by the name."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


Flag.__module__, Flag.__name__ = "numpy", "bool_"


def condition(value):
    """Returns a condition on a field of the payload."""
    unknown = value.keys() - {"key", "match", "range"}
    if unknown or "key" not in value or len(value) != 2:
        raise malformed(f"a condition has a key, and match or range, received {sorted(value)}")
    if "range" in value:
        return edge.FieldCondition(value["key"], range=edge.RangeFloat(**value["range"]))
    match value["match"]:
        case {"value": bool(flag)}:
            return edge.FieldCondition(value["key"], match=edge.MatchValue(Flag(flag)))
        case {"value": one}:
            return edge.FieldCondition(value["key"], match=edge.MatchValue(one))
        case {"any": several}:
            return edge.FieldCondition(value["key"], match=edge.MatchAny(several))
    raise malformed(f"match has value or any, received {value['match']!r}")


def filter_of(body):
    """Returns the filter of a request; `None` if it has none."""
    wanted = body.get("filter")
    if wanted is None:
        return None
    if wanted.keys() - {"must", "should", "must_not"}:
        raise malformed(f"a filter has must, should and must_not, received {sorted(wanted)}")
    return edge.Filter(**{key: [condition(c) for c in conditions] for key, conditions in wanted.items()})


def limit_of(body, name):
    limit = body.get("limit", 10)
    if not isinstance(limit, int) or limit < 1:
        raise invalid(f"{name}: value {limit} invalid, must be 1 or larger")
    return limit


def record(point):
    vector = None if point.vector is None else list(point.vector)
    return {"id": written(point.id), "payload": point.payload, "vector": vector}


def written(ident):
    return ident if ident is None or isinstance(ident, int) else str(ident)


class Collection:
    """One shard of the engine with one unnamed vector."""

    def __init__(self, path, body):
        match body.get("vectors"):
            case {"size": int(size), "distance": "Cosine" | "Dot" | "Euclid" | "Manhattan" as distance}:
                pass
            case other:
                raise malformed(f"vectors has a size and a distance, received {other!r}")
        if not 1 <= size <= 65_536:
            raise invalid(f"vectors.size: value {size} invalid, must be from 1 to 65536")
        self.size, self.distance, self.path = size, distance, path
        # The engine's objects are used by one thread at a time.
        self.lock = threading.Lock()
        vectors = edge.EdgeVectorParams(size, getattr(edge.Distance, distance))
        self.shard = edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors=vectors))

    def close(self):
        with self.lock:
            self.shard.close()
            shutil.rmtree(self.path)

    def check(self, vector):
        if not isinstance(vector, list):
            raise wrong("Not existing vector name error")
        if len(vector) != self.size:
            raise wrong(f"Vector dimension error: expected dim: {self.size}, got {len(vector)}")

    def update(self, operation):
        with self.lock:
            self.shard.update(operation)
        return {"operation_id": 0, "status": "completed"}

    def info(self):
        with self.lock:
            info = self.shard.info()
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": info.points_count,
            "indexed_vectors_count": info.indexed_vectors_count,
            "segments_count": info.segments_count,
            "config": {"params": {"vectors": {"size": self.size, "distance": self.distance}}},
        }

    def index(self, body):
        schema = getattr(edge.PayloadSchemaType, str(body["field_schema"]).capitalize(), None)
        if schema is None:
            raise malformed(f"unknown field_schema {body['field_schema']!r}")
        return self.update(edge.UpdateOperation.create_field_index(body["field_name"], schema))

    def upsert(self, body):
        points = body["points"]
        # The engine would store the points before the one that it refuses.
        for point in points:
            self.check(point["vector"])
        points = [edge.Point(point_id(p["id"]), p["vector"], p.get("payload")) for p in points]
        return self.update(edge.UpdateOperation.upsert_points(points))

    def delete(self, body):
        wanted = filter_of(body)
        if wanted is not None:
            return self.update(edge.UpdateOperation.delete_points_by_filter(wanted))
        return self.update(edge.UpdateOperation.delete_points([point_id(ident) for ident in body["points"]]))

    def query(self, body):
        self.check(body["query"])
        request = edge.QueryRequest(
            limit_of(body, "internal.limit"),
            query=edge.Query.Nearest(body["query"]),
            filter=filter_of(body),
            score_threshold=body.get("score_threshold"),
            with_payload=body.get("with_payload", False),
        )
        with self.lock:
            points = self.shard.query(request)
        fields = ("version", "score", "payload")
        return {"points": [{"id": written(p.id), **{f: getattr(p, f) for f in fields}} for p in points]}

    def scroll(self, body):
        request = edge.ScrollRequest(
            offset=None if body.get("offset") is None else point_id(body["offset"]),
            limit=limit_of(body, "limit"),
            filter=filter_of(body),
            with_payload=body.get("with_payload", True),
            with_vector=body.get("with_vector", False),
        )
        with self.lock:
            points, after = self.shard.scroll(request)
        return {"points": [record(point) for point in points], "next_page_offset": written(after)}

    def count(self, body):
        with self.lock:
            return {"count": self.shard.count(edge.CountRequest(body.get("exact", True), filter_of(body)))}

    def get(self, text):
        ident = point_id(int(text) if text.isdigit() else text)
        with self.lock:
            found = self.shard.retrieve([ident], True, True)
        if not found:
            raise Refusal(404, f"Not found: Point with id {text} does not exists!")
        return record(found[0])


class Engine:
    """All collections."""

    def __init__(self, path):
        self.path, self.collections, self.lock = Path(path), {}, threading.Lock()

    def get(self, name):
        found = self.collections.get(name)
        if found is None:
            raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
        return found

    def create(self, name, body):
        with self.lock:
            if name in self.collections:
                raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
            path = self.path / uuid.uuid4().hex
            path.mkdir()
            self.collections[name] = Collection(path, body)
        return True

    def remove(self, name):
        with self.lock:
            found = self.collections.pop(name, None)
        if found is not None:
            found.close()
        return found is not None

    def answer(self, method, path, body):
        """Returns the result of a request; `body` returns its JSON."""
        match method, [part for part in path.split("?")[0].split("/") if part]:
            case "GET", ["collections"]:
                return {"collections": [{"name": name} for name in sorted(self.collections)]}
            case "GET", ["collections", name]:
                return self.get(name).info()
            case "PUT", ["collections", name]:
                return self.create(name, body())
            case "DELETE", ["collections", name]:
                return self.remove(name)
            case "GET", ["collections", name, "points", ident]:
                return self.get(name).get(ident)
            case "PUT", ["collections", name, "index"]:
                return self.get(name).index(body())
            case "PUT", ["collections", name, "points"]:
                return self.get(name).upsert(body())
            case "POST", ["collections", name, "points", "delete" | "query" | "scroll" | "count" as verb]:
                return getattr(self.get(name), verb)(body())
        raise Refusal(404, "")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is written in two pieces.
    disable_nagle_algorithm = True

    def body(self, data):
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise Refusal(400, "Content type error")
        try:
            body = json.loads(data)
        except ValueError as error:
            raise malformed(error) from None
        if not isinstance(body, dict):
            raise wrong("the body is no object")
        return body

    def answer(self):
        size = int(self.headers.get("content-length") or 0)
        data = self.rfile.read(size) if size <= MAX_REQUEST else b""
        status = 200
        try:
            if size > MAX_REQUEST:
                self.close_connection = True
                raise Refusal(413, f"Payload error: JSON payload ({size} bytes) is larger than allowed")
            said = {"result": self.server.engine.answer(self.command, self.path, lambda: self.body(data)), "status": "ok"}
        except Refusal as refusal:
            status, said = refusal.status, {"status": {"error": str(refusal)}}
        except (KeyError, TypeError, AttributeError) as error:
            status, said = 400, {"status": {"error": f"Format error in JSON body: {error!r}"}}
        except Exception as error:  # The engine's own.
            gone = re.search("No point with id", str(error))
            status, said = (404 if gone else 500), {"status": {"error": f"Service internal error: {error}"}}
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    with tempfile.TemporaryDirectory(prefix="afd-qdrant-") as path, Server(("127.0.0.1", 0), Handler) as server:
        server.engine = Engine(path)
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


main()
