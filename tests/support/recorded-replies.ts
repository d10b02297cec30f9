/**
 * Every request of a run with its reply, one JSON object a line, when `RECORD_REPLIES` names a file: two states of the code are compared by
 * `scripts/compare-replies.ts` (docs/testing.md).
 */
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';

export interface RecordedReply {
  /** The running test and the place of the request in it. */
  test: string;
  place: number;
  request: { method: string; path: string; query?: unknown; body?: unknown };
  status: number;
  headers: Record<string, unknown>;
  /** Parsed where it is JSON. */
  body: unknown;
}

const file = process.env.RECORD_REPLIES;
const places = new Map<string, number>();

/** Records one reply; does nothing without `RECORD_REPLIES`. */
export function recordReply(request: RecordedReply['request'], reply: { status: number; headers: object; body: unknown }): void {
  const test = file && expect.getState().currentTestName;
  if (!file || !test) return;
  const place = places.get(test) ?? 0;
  places.set(test, place + 1);
  const recorded: RecordedReply = { test, place, request, status: reply.status, headers: { ...reply.headers }, body: reply.body };
  appendFileSync(file, `${JSON.stringify(recorded)}\n`);
}
