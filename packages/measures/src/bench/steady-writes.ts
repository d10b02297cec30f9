/** Writes at a steady rate over lanes. A lane sends one after the other, so the writes of one user, who has one lane, keep their order. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Committed } from './delivery.ts';
import { machineMs } from './machine-clock.ts';

export interface SteadyOrder {
  /** Writes a second over all lanes. */
  rate: number;
  seconds: number;
  /** Numbers of the writes begin here: a multiple of the lanes. */
  from: number;
  lanes: number;
}

export interface SteadyResult {
  /** Writes that were answered with success. */
  committed: Committed[];
  failures: number;
  /** Message of the first failure. */
  firstFailure: string | null;
  /** From the first write to the last answer. */
  seconds: number;
}

/** Place of a write's user among the users: each user belongs to one lane. @param users at least as many as lanes */
export function userIndexOf(number: number, lanes: number, users: number): number {
  return number % (users - (users % lanes));
}

/** A machine that does not reach the rate stops so long after the end; what was not written then is missing from the reached rate. */
const OVERTIME_MS = 30_000;

/** Writes that come late, because the ones before took long, are sent at once: the rate is reached as far as the lanes allow. */
export async function writeSteadily(
  order: SteadyOrder,
  write: (number: number, lane: number) => Promise<unknown>,
): Promise<SteadyResult> {
  const { rate, seconds, from, lanes } = order;
  const total = Math.round(rate * seconds);
  const committed: Committed[] = [];
  let failures = 0;
  let firstFailure: string | null = null;
  const startedAt = machineMs();
  const runLane = async (lane: number) => {
    for (let number = lane; number < total; number += lanes) {
      const early = startedAt + (number * 1000) / rate - machineMs();
      if (early > 0) await wait(early);
      const sentMs = machineMs();
      if (sentMs - startedAt > seconds * 1000 + OVERTIME_MS) return;
      try {
        await write(from + number, lane);
        committed.push([from + number, sentMs, machineMs()]);
      } catch (error) {
        failures += 1;
        firstFailure ??= String(error);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)));
  return { committed, failures, firstFailure, seconds: (machineMs() - startedAt) / 1000 };
}

/** The first number of the next order: above all numbers of this one, and again a multiple of the lanes. */
export function nextNumber({ rate, seconds, from, lanes }: SteadyOrder): number {
  return from + Math.ceil(Math.round(rate * seconds) / lanes) * lanes;
}
