import { Worker } from 'node:worker_threads';
import bcrypt from 'bcryptjs';
import { vi } from 'vitest';
import type { HashTask } from '../../src/core/password-hasher.ts';

/** One computation of a password hash; its cost decides how long it takes. */
export interface PasswordComputation {
  kind: HashTask['kind'];
  /** Base-2 logarithm of the rounds. */
  cost: number;
}

export interface PasswordWork {
  /** Passed to a thread of the hasher, in order. */
  readonly computations: PasswordComputation[];
  /** Calls of bcrypt on this thread, which would stop the event loop. */
  readonly onThisThread: string[];
  stop(): void;
}

function isHashTask(message: unknown): message is HashTask {
  const kind = (message as { kind?: unknown } | null)?.kind;
  return kind === 'hash' || kind === 'verify';
}

/** Counts the computations of password hashes. Unlike the duration, their number does not depend on the machine. */
export function watchPasswordWork(): PasswordWork {
  const computations: PasswordComputation[] = [];
  const onThisThread: string[] = [];
  const { postMessage } = Worker.prototype;
  const posted = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, message, transfer) {
    if (isHashTask(message)) {
      const cost = message.kind === 'hash' ? message.cost : bcrypt.getRounds(message.hash);
      computations.push({ kind: message.kind, cost });
    }
    return postMessage.call(this, message, transfer);
  });
  const names = ['hash', 'hashSync', 'compare', 'compareSync'] as const;
  const local = names.map((name) => {
    const original = bcrypt[name] as (...values: unknown[]) => unknown;
    return vi
      .spyOn(bcrypt as unknown as Record<string, (...values: unknown[]) => unknown>, name)
      .mockImplementation((...values) => {
        onThisThread.push(name);
        return original(...values);
      });
  });
  return {
    computations,
    onThisThread,
    stop() {
      posted.mockRestore();
      for (const spy of local) spy.mockRestore();
    },
  };
}
