/** An event of a stream, as html.spec.whatwg.org says that a client dispatches it. */
export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
  /** The last id that the stream named, which a client sends as Last-Event-ID. */
  readonly lastEventId: string;
}

/** A stream of events that a client reads until it leaves. */
export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** The last value of `retry`, in milliseconds. */
  retryMs(): number | undefined;
  /** Returns the next event. Rejects if the stream has ended. */
  next(): Promise<ServerSentEvent>;
  /** Breaks the connection. */
  leave(): void;
}

/** Opens a stream as a browser's EventSource does, which begins again with the last id. */
export async function openEvents(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: { accept: "text/event-stream", ...headers },
    signal: leaving.signal,
  });
  const state: ReaderState = { retryMs: undefined, lastEventId: headers["last-event-id"] ?? "" };
  const events = eventsIn(response.body ?? new ReadableStream(), state);
  return {
    status: response.status,
    headers: response.headers,
    retryMs: () => state.retryMs,
    async next() {
      const { done, value } = await events.next();
      if (done === true) throw new Error("the stream has ended");
      return value;
    },
    leave: () => leaving.abort(),
  };
}

interface ReaderState {
  retryMs: number | undefined;
  lastEventId: string;
}

async function* eventsIn(body: ReadableStream<Uint8Array>, state: ReaderState): AsyncGenerator<ServerSentEvent> {
  let unread = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (unread + text).split("\n\n");
    unread = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = fieldsOf(block);
      state.lastEventId = fields.get("id") ?? state.lastEventId;
      if (fields.has("retry")) state.retryMs = Number(fields.get("retry"));
      const { lastEventId } = state;
      yield { type: fields.get("event") ?? "message", data: fields.get("data") ?? "", lastEventId };
    }
  }
}

function fieldsOf(block: string): Map<string, string> {
  return new Map(
    block.split("\n").map((line) => {
      const [name = "", ...value] = line.split(": ");
      return [name, value.join(": ")];
    }),
  );
}
