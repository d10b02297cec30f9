/** What the clients of a drill sent and what they were answered. */
import { randomUUID } from 'node:crypto';
import { machineMs } from '../bench/machine-clock.ts';
import type { Answer, Call, Requester } from './requester.ts';
import type { BookRecord, WriteJournal } from './write-journal.ts';

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
  readonly #journal: WriteJournal | null;
  readonly #byKey = new Map<string, MoneyWrite>();
  readonly writes: MoneyWrite[] = [];
  /** `performance.now()` of each acknowledged write. */
  readonly successes: number[] = [];
  /** By operation and status; status 0 = no answer. */
  readonly statuses = new Map<string, Map<number, number>>();
  /** Connections that broke, by error code. */
  readonly problems = new Map<string, number>();
  readonly unexpected: UnexpectedAnswer[] = [];
  readonly withoutRetryAfter = new Map<string, number>();

  /** @param journal gets each record before the call and after it; without one the book is in memory alone */
  constructor(journal: WriteJournal | null = null) {
    this.#journal = journal;
    for (const record of journal?.records ?? []) this.replay(record);
  }

  begin(kind: WriteKind, userId: number, amountKopeks: number, key: string = randomUUID()): MoneyWrite {
    const write = { kind, key, userId, amountKopeks, isAcknowledged: false, tries: 0 };
    this.#add(write);
    // Its first try is recorded after it and waited for.
    void this.#journal?.append({ record: 'write', kind, key, userId, amountKopeks });
    return write;
  }

  #add(write: MoneyWrite): void {
    this.writes.push(write);
    this.#byKey.set(write.key, write);
  }

  /** Enters what a journal has. */
  replay(record: BookRecord): void {
    if (record.record === 'write') {
      const { kind, key, userId, amountKopeks } = record;
      this.#add({ kind, key, userId, amountKopeks, isAcknowledged: false, tries: 0 });
    } else if (record.record === 'try') {
      this.#byKey.get(record.key)!.tries += 1;
    } else {
      const { operation, key, status, problem, body } = record;
      this.count(operation, { status, problem, body, headers: record.hasRetryAfter ? { 'retry-after': '' } : {} });
      if (key !== null && isSuccess(status))
        this.#acknowledge(this.#byKey.get(key)!, record.atMs - machineMs() + performance.now());
    }
  }

  #acknowledge(write: MoneyWrite, at: number): void {
    write.isAcknowledged = true;
    this.successes.push(at);
  }

  /** Counts the answer to a read. */
  async countRead(operation: string, answer: Answer): Promise<void> {
    this.count(operation, answer);
    await this.#journal?.append(answerRecord(operation, null, answer));
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
    if (!isProvoked && !isExpected(answer.status) && this.unexpected.length < MAX_UNEXPECTED)
      this.unexpected.push({ at: new Date().toISOString(), operation, status: answer.status, body: beginningOf(answer) });
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
      const attempt = write.tries;
      write.tries += 1;
      await this.#journal?.append({ record: 'try', key: write.key });
      const answer = await requester.send(call(attempt));
      this.count(write.kind, answer);
      await this.#journal?.append(answerRecord(write.kind, write.key, answer));
      if (isSuccess(answer.status)) return this.#acknowledge(write, performance.now());
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

const isSuccess = (status: number) => status >= 200 && status < 300;
const isExpected = (status: number) => isSuccess(status) || AGAIN.has(status);
const beginningOf = (answer: Answer) => answer.body.slice(0, 500);

function answerRecord(operation: string, key: string | null, answer: Answer): BookRecord {
  const { status, problem } = answer;
  const hasRetryAfter = answer.headers['retry-after'] !== undefined;
  const body = isExpected(status) ? '' : beginningOf(answer);
  return { record: 'answer', operation, key, atMs: machineMs(), status, problem, hasRetryAfter, body };
}
