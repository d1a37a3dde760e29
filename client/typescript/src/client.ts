// Client for the afd daemon, with a typed method for each method of the daemon. It uses the daemon's Unix socket and
// needs
// only Node.js.
//
//   import { Afd } from "afd-client";
//
//   const phone = await Afd.connect({ session: "my-agent" });
//   console.log((await phone.observe.page({ format: "outline" })).outline);
//   const step = await phone.act.tap({ value: "Wi-Fi", then: "diff" });
//   phone.close();

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { Api, type Adds, type CallProgress, type ErrorCode, type MessageWithCursor } from "./api.js";

export * from "./api.js";

/** An error returned by the daemon. `code` identifies the error, `hint` suggests the next step. */
export class AfdError extends Error {
  readonly code: ErrorCode;
  readonly hint?: string;
  readonly retryable: boolean;
  readonly details: unknown;

  constructor(error: any) {
    const { code = "INTERNAL", hint, retryable = false, details } = error.data ?? {};
    super(`${code}: ${error.message}${hint ? ` (${hint})` : ""}`);
    Object.assign(this, { name: "AfdError" });
    this.code = code;
    this.hint = hint ?? undefined;
    this.retryable = retryable;
    this.details = details;
  }
}

/** No daemon could be reached, or the connection was lost. An action that was already sent may have been executed. */
export class NoDaemon extends Error {}

/** Options of a connection. */
export interface Options {
  /** Session of the calls. */
  session?: string;
  /** Device of the calls; optional if exactly one device is configured. */
  device?: string;
  /** Path of the socket. */
  path?: string;
  /** Called with the progress of long calls, such as waits and searches. */
  onProgress?: (progress: CallProgress) => void;
}

interface Waiting {
  resolve: (result: any) => void;
  reject: (error: Error) => void;
}

/** Returns the default path of the socket, the same as in the daemon. */
export function defaultSocket(): string {
  const { AFD_SOCKET, XDG_RUNTIME_DIR } = process.env;
  if (AFD_SOCKET) return AFD_SOCKET;
  return XDG_RUNTIME_DIR ? join(XDG_RUNTIME_DIR, "afd", "afd.sock") : `/tmp/afd-${process.geteuid!()}/afd.sock`;
}

/** A connection to the daemon. */
export class Afd extends Api {
  readonly #socket: Socket;
  readonly #options: Options;
  readonly #waiting = new Map<number, Waiting>();
  #onEvent?: (message: MessageWithCursor) => void;
  #onEnd?: () => void;
  #next = 0;

  private constructor(socket: Socket, options: Options) {
    super((method, params, adds) => this.#typed(method, params, adds));
    this.#socket = socket;
    this.#options = options;
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#end());
    createInterface({ input: socket }).on("line", (line) => this.#take(JSON.parse(line)));
  }

  /** Connects to the daemon, which is started if it is not running. */
  static async connect(options: Options = {}): Promise<Afd> {
    const path = options.path ?? defaultSocket();
    const socket = await open(path).catch(async (error) => {
      if (error.code !== "ENOENT" && error.code !== "ECONNREFUSED") throw error;
      await promisify(execFile)("afctl", ["--socket", path, "daemon", "start"]).catch((failed) => {
        throw new NoDaemon(`no daemon at ${path}, and \`afctl daemon start\` failed: ${failed.message}`);
      });
      return open(path);
    });
    const afd = new Afd(socket, { ...options, path });
    if (options.onProgress) await afd.call("rpc.reportProgress", { enabled: true });
    return afd;
  }

  #typed(method: string, params: object, adds: Adds): Promise<any> {
    const { session, device } = this.#options;
    const added: Record<string, unknown> = {};
    if (adds.device && device !== undefined) added.device = device;
    if (adds.session && session !== undefined) added.session = session;
    if (adds.key) added.requestKey = `typescript-${randomUUID()}`;
    return this.call(method, { ...added, ...params });
  }

  /** Calls a method by its wire name. A signal cancels the call, unless its action was already sent. */
  call(method: string, params: object, signal?: AbortSignal): Promise<any> {
    const id = ++this.#next;
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new NoDaemon("the connection is closed"));
      this.#waiting.set(id, { resolve, reject });
      this.#send({ jsonrpc: "2.0", id, method, params });
      signal?.addEventListener("abort", () => void this.call("rpc.cancel", { id }).catch(() => {}), { once: true });
    });
  }

  /** Yields events from now on, or since a cursor. Uses a connection of its own, which ends with the iteration. */
  async *events(params: { since?: number; session?: string; device?: string } = {}): AsyncGenerator<MessageWithCursor> {
    const { onProgress: _, ...options } = this.#options;
    const other = await Afd.connect(options);
    const messages: MessageWithCursor[] = [];
    let wake = () => {};
    other.#onEvent = (message) => (messages.push(message), wake());
    other.#onEnd = () => wake();
    try {
      await other.call("events.subscribe", params);
      while (!other.#socket.destroyed || messages.length > 0) {
        const message = messages.shift();
        if (message) yield message;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      other.close();
    }
  }

  /** Closes the connection and ends everything bound to it, such as a lease with `untilDisconnect`. */
  close(): void {
    this.#socket.destroy();
  }

  #send(message: object): void {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  #take(message: any): void {
    if (message.method === "rpc.progress") return this.#options.onProgress?.(message.params);
    if (message.method === "events.message") return this.#onEvent?.(message.params.result);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) waiting?.reject(new AfdError(message.error));
    else waiting?.resolve(message.result);
  }

  #end(): void {
    for (const { reject } of this.#waiting.values()) reject(new NoDaemon("the daemon closed the connection"));
    this.#waiting.clear();
    this.#onEnd?.();
  }
}

async function open(path: string): Promise<Socket> {
  const { uid } = await stat(path);
  if (uid !== process.geteuid!() && uid !== 0) throw new NoDaemon(`${path} belongs to another user`);
  return new Promise((resolve, reject) => {
    const socket = createConnection(path, () => resolve(socket.removeListener("error", reject)));
    socket.once("error", reject);
  });
}
