import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { isDatabaseUnavailable, isRetryable } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import type { MessengerFile } from '../messaging/ports.ts';
import { rememberFile } from '../messaging/send-message.ts';
import { AWAY_MS } from './outcome.ts';
import { leaseSends, paceOf, ShareTimes } from './pace.ts';
import {
  claimRecipients,
  findSend,
  finishSend,
  prepareShare,
  queuePutOff,
  releaseSend,
  renewLease,
  type SettledRecipient,
  settleRecipients,
  takeOverAbandoned,
  takeSend,
} from './repo.ts';
import type { ClaimedRecipient, Deliver, MassSend, SendKinds, SendOutcome } from './types.ts';

const TRIES = 10;

/** Stores what became of a message, again while the database is away: a lost result would become a second message. */
export async function storeResult<T>(store: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await store();
    } catch (error) {
      if (tries >= TRIES || !(isRetryable(error) || isDatabaseUnavailable(error))) throw error;
      await delay(Math.min(tries, 5) * SECOND_MS);
    }
  }
}

/**
 * Stores results as they come, all that came during one statement with the next. So a process that is killed has lost the results of one
 * statement at most.
 */
class Settler {
  readonly #app: App;
  readonly #send: MassSend;
  readonly #leaseMs: number;
  #waiting: SettledRecipient[] = [];
  #running: Promise<void> | null = null;
  #hasDelivered = false;

  constructor(app: App, send: MassSend, leaseMs: number) {
    this.#app = app;
    this.#send = send;
    this.#leaseMs = leaseMs;
  }

  /** Resolves when the result is stored. @throws when the database stays away */
  async add(result: SettledRecipient): Promise<void> {
    this.#waiting.push(result);
    if (result.state === 'sent') this.#hasDelivered = true;
    // One statement runs; the next takes everything that waits by then.
    while (this.#waiting.includes(result)) {
      if (this.#running) {
        await this.#running;
        continue;
      }
      const batch = this.#waiting;
      this.#waiting = [];
      this.#running = this.#store(batch).finally(() => {
        this.#running = null;
      });
      await this.#running;
      return;
    }
    await this.#running;
  }

  #store(batch: readonly SettledRecipient[]): Promise<void> {
    const isMessenger = this.#send.channel === 'messenger';
    return storeResult(() => {
      const step = { leaseMs: this.#leaseMs, isMessenger, isOutage: !this.#hasDelivered, now: this.#app.clock.now() };
      return settleRecipients(this.#app.db, this.#send, batch, step);
    });
  }
}

/** User ids that one statement of the preparation reads. */
const PREPARE_SPAN = 20_000;
/** Recipients claimed at a time: also what an ended process can have under way in each lane. */
const SHARE = 25;
/** Of the pace, so that the shares of several sends at once are leased within `MAX_PAUSE_MS`. */
const SHARE_SECONDS = 0.5;
/** Shares under way at the same time, so that a slow messenger does not slow the pace. */
const LANES = 3;
/** A worker that stores nothing for so long has ended. Longer than one message with its attempts and time-outs. */
const LEASE_MS = 90 * SECOND_MS;
/** Time limit of one run; the next job continues. */
const RUN_MS = 5 * MINUTE_MS;
/** A longer pause is left to a later job. */
const MAX_PAUSE_MS = 5 * SECOND_MS;
/** Pause of a send that begins after another one, until it asks again whether that has ended. */
const LATER_MS = SECOND_MS;
/** Progress is announced that often at most. */
const ANNOUNCE_MS = 5 * SECOND_MS;
/** So many put off with nobody served between them: the server accepts nothing at present, for example by its limit of the hour. */
const MAX_PUT_OFF_IN_A_ROW = 2 * LANES * SHARE;
/** Until those who were put off are tried again: servers that want a second attempt accept it after some minutes. */
const PUT_OFF_MS = 10 * MINUTE_MS;

export interface RunOptions {
  signal: AbortSignal;
  leaseMs?: number;
}

/** What a run returns: finished or another worker's, or to be continued after a pause. */
export type RunResult = { isOver: true } | { isOver: false; waitMs: number };

/**
 * Prepares and sends a mass send as far as it gets: one worker at a time, several shares at once, at the pace that all instances share.
 * May be called any number of times, on any instance: whatever ends a worker, the next one continues, and what was under way
 * is recorded as unconfirmed and not sent again (spec 05 section 3.5, spec 10 O14).
 * @throws what the database throws; the lease then ends by itself
 */
export async function runSend(app: App, kinds: SendKinds, sendId: number, options: RunOptions): Promise<RunResult> {
  const { leaseMs = LEASE_MS } = options;
  const send = await takeSend(app.db, sendId, leaseMs, app.clock.now());
  if (!send) return { isOver: true };
  const unconfirmed = await takeOverAbandoned(app.db, kinds[send.kind], send);
  if (unconfirmed > 0)
    app.log.warn({ sendId, unconfirmed }, 'a worker of a mass send had ended; its messages under way are unconfirmed');
  const worker = new SendWorker(app, kinds, send, { ...options, leaseMs });
  const result = await worker.run();
  if (!result.isOver) await releaseSend(app.db, send);
  return result;
}

class SendWorker {
  readonly #app: App;
  readonly #kinds: SendKinds;
  readonly #send: MassSend;
  readonly #signal: AbortSignal;
  readonly #leaseMs: number;
  readonly #untilMs = performance.now() + RUN_MS;
  /** Set when the messenger or the mail server accepts nothing at present. */
  #pauseMs = 0;
  /** Set when the pace is leased further ahead than a lane waits. */
  #laterMs = 0;
  #putOffInARow = 0;
  #announcedAt = performance.now();

  constructor(app: App, kinds: SendKinds, send: MassSend, { signal, leaseMs }: Required<RunOptions>) {
    this.#app = app;
    this.#kinds = kinds;
    this.#send = send;
    this.#signal = signal;
    this.#leaseMs = leaseMs;
  }

  async run(): Promise<RunResult> {
    const kind = this.#kinds[this.#send.kind];
    const deliver = await kind.open(this.#app, this.#send);
    if (!deliver) return this.#finish(true);
    if (deliver === 'later') {
      this.#pauseMs = LATER_MS;
      return this.#finish(false);
    }
    await this.#announce();
    if (this.#send.state === 'preparing' && !(await this.#prepare())) return this.#finish(false);
    const settler = new Settler(this.#app, this.#send, this.#leaseMs);
    const lanes = await Promise.allSettled(Array.from({ length: LANES }, () => this.#lane(deliver, settler)));
    const broken = lanes.find((lane) => lane.status === 'rejected');
    if (broken) throw broken.reason;
    return this.#finish(false);
  }

  #isOver(): boolean {
    return this.#signal.aborted || performance.now() >= this.#untilMs || this.#pauseMs > 0;
  }

  /** @returns false when it was cut short */
  async #prepare(): Promise<boolean> {
    while (!this.#isOver()) {
      const isComplete = await prepareShare(this.#app.db, this.#kinds[this.#send.kind], this.#send, PREPARE_SPAN);
      if (isComplete !== false) return isComplete === true;
      await renewLease(this.#app.db, this.#send, this.#leaseMs);
    }
    return false;
  }

  /** Claims a share when its time has come, sends its messages each in its time, and so on. */
  async #lane(deliver: Deliver, settler: Settler): Promise<void> {
    const { channel } = this.#send;
    const perSecond = paceOf(this.#app.env, channel);
    const count = Math.max(1, Math.min(SHARE, Math.floor(perSecond * SHARE_SECONDS)));
    while (!this.#isOver()) {
      const lease = (messages: number, maxWaitMs: number) =>
        leaseSends(this.#app.db, channel, { count: messages, perSecond, maxWaitMs });
      const times = new ShareTimes(lease, { count, perSecond, maxWaitMs: MAX_PAUSE_MS });
      const waitMs = await times.begin();
      if (waitMs > MAX_PAUSE_MS) {
        this.#laterMs = Math.max(this.#laterMs, waitMs);
        return;
      }
      if (waitMs > 0) await delay(waitMs, undefined, { signal: this.#signal }).catch(() => undefined);
      if (this.#isOver()) return;
      const share = await claimRecipients(this.#app.db, this.#send, count);
      if (share.length === 0) return;
      await this.#sendShare(share, times, deliver, settler);
      await this.#announceProgress();
    }
  }

  /** Each message in its time. Those whose time does not come in this run are queued again. */
  async #sendShare(share: readonly ClaimedRecipient[], times: ShareTimes, deliver: Deliver, settler: Settler): Promise<void> {
    const failures: unknown[] = [];
    const recordFailure = (error: unknown) => void failures.push(error);
    const sending: Promise<void>[] = [];
    let refusedMs = 0;
    const hasEnded = () => this.#isOver() || failures.length > 0 || refusedMs > 0;
    for (const recipient of share) {
      if (!hasEnded()) refusedMs = (await times.next().catch(recordFailure)) ?? 0;
      const step = hasEnded()
        ? settler.add({ userId: recipient.userId, state: 'queued', messageId: null })
        : this.#deliverOne(deliver, recipient, settler);
      sending.push(step.catch(recordFailure));
    }
    // All of them end before the first failure is thrown, so that nothing is under way when the run ends.
    await Promise.all(sending);
    if (failures.length > 0) throw failures[0];
  }

  async #deliverOne(deliver: Deliver, recipient: ClaimedRecipient, settler: Settler): Promise<void> {
    const { userId } = recipient;
    // Since the preparation the account may have been blocked or deleted.
    const outcome = this.#classified(recipient.status === 'active' ? await deliver(recipient) : { state: 'failed' });
    if (outcome.state === 'unsent') this.#waitFor(outcome);
    const state = outcome.state === 'unsent' ? 'queued' : outcome.state;
    await settler.add({ userId, state, messageId: outcome.state === 'sent' ? outcome.messageId : null });
  }

  /** A server that puts off everybody is away. */
  #classified(outcome: SendOutcome): SendOutcome {
    if (outcome.state === 'sent') this.#putOffInARow = 0;
    if (outcome.state !== 'put_off') return outcome;
    this.#putOffInARow += 1;
    return this.#putOffInARow < MAX_PUT_OFF_IN_A_ROW ? outcome : { ...outcome, state: 'unsent', waitMs: AWAY_MS };
  }

  /** Ends the run; the first failure of it says in the log why nothing comes for a while. */
  #waitFor({ waitMs, reason }: { waitMs: number; reason: string }): void {
    if (this.#pauseMs === 0)
      this.#app.log.warn({ sendId: this.#send.id, waitMs, reason }, 'a mass send waits: nothing is accepted');
    this.#pauseMs = Math.max(this.#pauseMs, waitMs, 1);
  }

  /** The end of the send, if it is one; else what remains is for a later job. A paused one waits for its resumption. */
  async #finish(isImpossible: boolean): Promise<RunResult> {
    const finished = await inTransaction(this.#app, async (t) => {
      const send = await finishSend(t.db, this.#send, t.clock.now(), isImpossible);
      if (send) await this.#kinds[send.kind].announce(t, send);
      return send !== null;
    });
    if (finished) return { isOver: true };
    const now = await findSend(this.#app.db, this.#send.id);
    if (!now || now.run !== this.#send.run || now.finishedAt !== null) return { isOver: true };
    if (this.#pauseMs === 0 && (await queuePutOff(this.#app.db, this.#send))) return { isOver: false, waitMs: PUT_OFF_MS };
    return { isOver: false, waitMs: Math.max(this.#pauseMs, this.#laterMs) };
  }

  async #announceProgress(): Promise<void> {
    if (performance.now() - this.#announcedAt >= ANNOUNCE_MS) await this.#announce();
  }

  async #announce(): Promise<void> {
    this.#announcedAt = performance.now();
    const send = await findSend(this.#app.db, this.#send.id);
    if (send) await this.#kinds[send.kind].announce(this.#app, send);
  }
}

/** The job: runs a send, and sends the job for the rest. */
export async function continueSend(app: App, kinds: SendKinds, sendId: number, signal: AbortSignal): Promise<void> {
  const result = await runSend(app, kinds, sendId, { signal });
  if (result.isOver) return;
  const send = await findSend(app.db, sendId);
  if (send?.pausedAt && !send.stopRequestedAt) return;
  await app.jobs.send(
    'messaging.run-send',
    { sendId },
    { singletonKey: String(sendId), startAfter: addMs(app.clock.now(), result.waitMs) },
  );
}

/**
 * The file of a mass send. Its content is uploaded with one message; the others wait for the messenger's id of it. When that message
 * fails, the next one uploads it.
 */
export class SharedFile {
  readonly #app: App;
  readonly #fileId: string;
  #known: { fileId: string } | null = null;
  #upload: Promise<unknown> | null = null;

  constructor(app: App, fileId: string) {
    this.#app = app;
    this.#fileId = fileId;
  }

  async use<T extends { fileId: string | null }>(send: (content: MessengerFile) => Promise<T>): Promise<T> {
    while (this.#upload) await this.#upload.catch(() => undefined);
    if (this.#known) return send(this.#known);
    const first = this.#sendFirst(send);
    this.#upload = first;
    try {
      return await first;
    } finally {
      this.#upload = null;
    }
  }

  async #sendFirst<T extends { fileId: string | null }>(send: (content: MessengerFile) => Promise<T>): Promise<T> {
    const content = await this.#app.ports.messengerFiles.resolve(this.#app, this.#fileId);
    const sent = await send(content);
    if ('fileId' in content) this.#known = content;
    else if (sent.fileId !== null) {
      this.#known = { fileId: sent.fileId };
      await rememberFile(this.#app, this.#fileId, sent.fileId);
    }
    return sent;
  }
}
