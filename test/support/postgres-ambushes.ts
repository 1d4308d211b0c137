import type { Socket } from "node:net";
import { deferred } from "./deferred.js";

/** Bytes that are kept from going on, and all that follow them on their connection in their direction. */
export interface Hold {
  /** Resolves when the text has come. */
  readonly reached: Promise<void>;
  release(): void;
}

/** What happens once to the next bytes that hold the text. */
export interface Ambush {
  readonly text: string;
  /** What the client says first. */
  readonly behind?: string | undefined;
  /** Where it has said so. */
  armedOn?: number;
  readonly spring: (connection: Connection, data: Buffer) => Buffer;
}

/** One direction of a connection. */
export interface Connection {
  readonly number: number;
  readonly from: Socket;
  /** The bytes that are being held; undefined while nothing is. */
  held: Buffer[] | undefined;
  forward(data: Buffer): void;
}

/** Ends the connection in place of sending the bytes on. */
export function cut({ from }: Connection, data: Buffer): Buffer {
  from.destroy();
  return data;
}

/** Notes on which connections a client has said what an ambush waits for first. */
export function arm(ambushes: Ambush[], connection: number, data: Buffer): void {
  for (const ambush of ambushes) {
    if (ambush.behind !== undefined && data.includes(ambush.behind)) ambush.armedOn = connection;
  }
}

/** The ambush that these bytes run into, which is none any more. */
export function takeAmbush(ambushes: Ambush[], connection: number, data: Buffer): Ambush | undefined {
  const index = ambushes.findIndex(
    ({ text, behind, armedOn }) => data.includes(text) && (behind === undefined || armedOn === connection),
  );
  return index < 0 ? undefined : ambushes.splice(index, 1)[0];
}

/** Lays an ambush that holds the bytes from a text on. */
export function hold(at: Pick<Ambush, "text" | "behind">, ambushes: Ambush[]): Hold {
  let connection: Connection | undefined;
  const { promise: reached, resolve } = deferred();
  ambushes.push({
    ...at,
    spring(sprung, data) {
      const start = data.indexOf(at.text);
      connection = sprung;
      connection.forward(data.subarray(0, start));
      connection.held = [];
      resolve();
      return data.subarray(start);
    },
  });
  return {
    reached,
    release() {
      const held = connection?.held ?? [];
      if (connection !== undefined) connection.held = undefined;
      for (const data of held) connection?.forward(data);
    },
  };
}
