import { connect, type SocketClient } from './socket-client.ts';

export interface ResumingClient extends SocketClient {
  greeting: Record<string, unknown>;
}

/** Connects, as a client that was there before when `after` is given, and waits for the greeting. @param path with the credential */
export async function resume(url: string, path: string, after?: unknown): Promise<ResumingClient> {
  const client = connect(`${url}${path}${after === undefined ? '' : `&after=${encodeURIComponent(String(after))}`}`);
  return Object.assign(client, { greeting: await client.next() });
}

/** The numbers of the events that the client has received, see `emitNumbers`. */
export function numbersOf(client: SocketClient): unknown[] {
  return client.received.slice(1).map(({ payload }) => (payload as { n: unknown }).n);
}

/** The numbers from `first` to `last`. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
