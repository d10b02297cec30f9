/** Reads `/ws`, in a process of its own, and records when the events of the measurement arrive. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { answerQuestions } from './child-process.ts';
import type { Arrival } from './delivery.ts';
import { numberInFrame } from './event-text.ts';
import { machineMs } from './machine-clock.ts';

/** `take` waits for so many frames, for at most a time, and returns all that have arrived; then the record is empty. */
export type ReaderOrder = { connect: { url: string } } | { take: { count: number; withinMs: number } };

export interface ReaderAnswer {
  arrivals: Arrival[];
  /** Whether the server has closed the socket. */
  isClosed: boolean;
}

/** After the last expected frame: the time in which a frame that is sent twice would come. */
const DOUBLES_MS = 1_500;
const POLL_MS = 20;

let arrivals: Arrival[] = [];
let isClosed = false;

async function obey(order: ReaderOrder): Promise<ReaderAnswer> {
  if ('connect' in order) {
    const socket = new WebSocket(order.connect.url, { perMessageDeflate: false });
    // The first frame greets a socket that is signed in.
    await once(socket, 'message');
    socket.on('message', (data) => {
      const atMs = machineMs();
      const number = numberInFrame(String(data));
      if (number !== null) arrivals.push([number, atMs]);
    });
    socket.on('close', () => {
      isClosed = true;
    });
    return { arrivals: [], isClosed };
  }
  const deadline = machineMs() + order.take.withinMs;
  while (arrivals.length < order.take.count && machineMs() < deadline && !isClosed) await wait(POLL_MS);
  await wait(DOUBLES_MS);
  const taken = arrivals;
  arrivals = [];
  return { arrivals: taken, isClosed };
}

answerQuestions<ReaderOrder>(obey);
