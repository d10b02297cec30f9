/** What the clients of a drill sent and what they were answered. */
import { randomUUID } from 'node:crypto';
import type { Answer, Call, Requester } from './requester.ts';

export type WriteKind = 'balance' | 'purchase' | 'callback';

export interface MoneyWrite {
  kind: WriteKind;
  /** The `Idempotency-Key`; of a callback the id of its payment. */
  key: string;
  userId: number;
  /** Signed by its effect on the user. */
  amountKopeks: number;
  isAcknowledged: boolean;
  tries: number;
}

export interface UnexpectedAnswer {
  at: string;
  operation: string;
  status: number;
  body: string;
}

const MAX_UNEXPECTED = 200;
/** Answers after which the client sends the same key again. */
const AGAIN = new Set([0, 409, 429, 502, 503, 504]);

export class WriteBook {
  readonly writes: MoneyWrite[] = [];
  /** `performance.now()` of each acknowledged write. */
  readonly successes: number[] = [];
  /** By operation and status; status 0 = no answer. */
  readonly statuses = new Map<string, Map<number, number>>();
  /** Connections that broke, by error code. */
  readonly problems = new Map<string, number>();
  readonly unexpected: UnexpectedAnswer[] = [];
  readonly withoutRetryAfter = new Map<string, number>();

  begin(kind: WriteKind, userId: number, amountKopeks: number, key: string = randomUUID()): MoneyWrite {
    const write = { kind, key, userId, amountKopeks, isAcknowledged: false, tries: 0 };
    this.writes.push(write);
    return write;
  }

  /**
   * Counts an answer. Anything but 2xx and what a client may send again is kept with its body.
   * @param isProvoked the drill asked for this refusal
   */
  count(operation: string, answer: Answer, isProvoked = false): void {
    const byStatus = this.statuses.get(operation) ?? new Map<number, number>();
    this.statuses.set(operation, byStatus);
    byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
    if (answer.problem !== null) this.problems.set(answer.problem, (this.problems.get(answer.problem) ?? 0) + 1);
    if (answer.status === 503 && answer.headers['retry-after'] === undefined)
      this.withoutRetryAfter.set(operation, (this.withoutRetryAfter.get(operation) ?? 0) + 1);
    const isExpected = isProvoked || (answer.status >= 200 && answer.status < 300) || AGAIN.has(answer.status);
    if (!isExpected && this.unexpected.length < MAX_UNEXPECTED)
      this.unexpected.push({ at: new Date().toISOString(), operation, status: answer.status, body: answer.body.slice(0, 500) });
  }

  /**
   * Sends a write until it is acknowledged or refused for good.
   * @param call made for each try, so that a try may go to another instance
   * @param mayTry asked after each try without an acknowledgement; false ends it
   */
  async sendUntilAcknowledged(
    write: MoneyWrite,
    requester: Requester,
    call: (attempt: number) => Call,
    mayTry: () => Promise<boolean>,
  ): Promise<void> {
    for (;;) {
      const answer = await requester.send(call(write.tries));
      write.tries += 1;
      this.count(write.kind, answer);
      if (answer.status >= 200 && answer.status < 300) {
        write.isAcknowledged = true;
        this.successes.push(performance.now());
        return;
      }
      // A 500 is a fault that is counted; the client's answer to it is the same: the key is sent again.
      if (!(AGAIN.has(answer.status) || answer.status >= 500) || !(await mayTry())) return;
    }
  }

  /** Answers with this status over all operations. */
  total(isCounted: (status: number) => boolean): number {
    let sum = 0;
    for (const byStatus of this.statuses.values()) for (const [status, count] of byStatus) if (isCounted(status)) sum += count;
    return sum;
  }
}
