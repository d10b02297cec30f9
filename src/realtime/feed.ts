import type { App } from '../core/app.ts';
import { runOutsideTransaction } from '../core/db/root-guard.ts';
import { isAppError } from '../core/errors.ts';
import { CLOSE, type FeedClient } from './feed-client.ts';

/** What a credential proved. */
export interface Access {
  /** For logs and to find sockets: `token:3`, `user:17`. */
  actor: string;
  /** Set on `/cabinet/ws`. */
  userId: number | null;
  /** Receives events of the `staff` audience. */
  receivesStaffEvents: boolean;
  /** The session, as long as which its sockets live; null = they live as long as the credential. */
  sessionId: string | null;
  expiresAt: Date | null;
  /** First message of the server. */
  greeting: object;
}

/** The properties in which the two feeds differ. */
export interface FeedRules {
  readonly name: 'ws' | 'cabinet';
  readonly path: string;
  /** The feed exists only while this is on. */
  readonly setting: 'WEB_API_ENABLED' | 'CABINET_ENABLED';
  /** Query parameters that may contain the credential, the preferred one first. */
  readonly queryNames: readonly string[];
  /** Request header that may contain it, in lower case; null = none. */
  readonly headerName: string | null;
  /** Close reason when there is no credential. */
  readonly missingReason: string;
  readonly maxPerUser: number;
  /** All open sockets are checked again after this. */
  readonly recheckMs: number;
  /** @throws AppError when the credential is not valid */
  authenticate(credential: string, ip: string | null): Promise<Access>;
  /** Whether open sockets may go on. @returns in the order of the credentials their access, or the AppError that ends them */
  recheck(open: readonly OpenCredential[]): Promise<PromiseSettledResult<Access>[]>;
  /** Resolves when the sockets have what was committed before the call: a user who was just banned gets the event, then the close (spec 10 U6). */
  deliverEvents(): Promise<void>;
}

/** A credential with open sockets. */
export interface OpenCredential {
  readonly credential: string;
  readonly ip: string | null;
  readonly access: Access;
}

/** Sockets with one credential from one address are checked, and closed, together. */
interface Holder extends OpenCredential {
  readonly clients: Set<FeedClient>;
  access: Access;
  /** `performance.now()` of a check before the next round of all. */
  checkAt: number;
  isChecking: boolean;
}

const INVALID_REASON = 'Unauthorized: Invalid token';
/** The area is switched off: the same text as its operations answer; the credential stays valid. */
export const OFF_REASON = 'Not Found';
/** After a check that failed because the database was not available. */
const CHECK_AGAIN_MS = 5_000;

/** The signed-in sockets of one feed and the checks of their credentials. */
export class Feed {
  readonly rules: FeedRules;
  /** Every signed-in socket. */
  readonly clients = new Set<FeedClient>();
  readonly #app: App;
  readonly #holders = new Map<string, Holder>();
  readonly #byUser = new Map<number, Set<FeedClient>>();
  readonly #staff = new Set<FeedClient>();
  #roundAt = Number.NEGATIVE_INFINITY;

  constructor(app: App, rules: FeedRules) {
    this.#app = app;
    this.rules = rules;
  }

  get isOpen(): boolean {
    return this.#app.settings.get(this.rules.setting);
  }

  /** Closes all sockets when the area is switched off (spec 01 section 4.2, spec 06 section 0). Needs no query. */
  closeIfOff(): void {
    if (this.isOpen) return;
    for (const client of this.clients) client.close(CLOSE.policy, OFF_REASON);
  }

  /** @returns false when the user has too many sockets */
  add(client: FeedClient, credential: string, ip: string | null, access: Access): boolean {
    const { userId } = access;
    if (userId !== null) {
      const userClients = this.#byUser.get(userId) ?? new Set();
      if (userClients.size >= this.rules.maxPerUser) return false;
      this.#byUser.set(userId, userClients.add(client));
    }
    // The credential may have been withdrawn while it was checked, so it is checked again at once.
    const key = holderKey(credential, ip);
    const holder = this.#holders.get(key) ?? { credential, ip, clients: new Set(), access, checkAt: 0, isChecking: false };
    this.#holders.set(key, holder);
    holder.checkAt = 0;
    holder.clients.add(client);
    this.clients.add(client);
    if (access.receivesStaffEvents) this.#staff.add(client);
    return true;
  }

  remove(client: FeedClient, credential: string, ip: string | null, access: Access): void {
    this.clients.delete(client);
    this.#staff.delete(client);
    const key = holderKey(credential, ip);
    const holder = this.#holders.get(key);
    holder?.clients.delete(client);
    if (holder?.clients.size === 0) this.#holders.delete(key);
    if (access.userId === null) return;
    const userClients = this.#byUser.get(access.userId);
    userClients?.delete(client);
    if (userClients?.size === 0) this.#byUser.delete(access.userId);
  }

  sendToUser(userId: number, frame: Buffer): void {
    for (const client of this.#byUser.get(userId) ?? []) client.sendLive(frame);
  }

  sendToStaff(frame: Buffer): void {
    for (const client of this.#staff) client.sendLive(frame);
  }

  receivesStaffEvents(client: FeedClient): boolean {
    return this.#staff.has(client);
  }

  /** Checks the credentials of one user (or of everyone) again at the next tick. */
  expire(userId: number | 'all'): void {
    for (const holder of this.#holders.values()) {
      if (userId === 'all' || holder.access.userId === userId) holder.checkAt = 0;
    }
  }

  /** Closes what has expired, checks what is due together, pings. @param now `performance.now()` */
  tick(now: number): void {
    const time = this.#app.clock.now();
    const isRound = this.#roundAt <= now;
    if (isRound) this.#roundAt = now + this.rules.recheckMs;
    const due: Holder[] = [];
    for (const holder of this.#holders.values()) {
      const { expiresAt } = holder.access;
      if (expiresAt !== null && expiresAt <= time) closeAll(holder, CLOSE.policy, INVALID_REASON);
      else if ((isRound || holder.checkAt <= now) && !holder.isChecking) due.push(holder);
    }
    if (due.length > 0) void this.#check(due, now);
    for (const client of this.clients) client.beat(now);
  }

  async #check(holders: readonly Holder[], now: number): Promise<void> {
    for (const holder of holders) {
      holder.isChecking = true;
      holder.checkAt = Number.POSITIVE_INFINITY;
    }
    try {
      const results = await this.rules.recheck(holders);
      // Only a refusal closes the connection; an unavailable database must not disconnect everyone.
      const isRefused = results.some((result) => result.status === 'rejected' && isAppError(result.reason));
      if (isRefused) await this.rules.deliverEvents().catch(() => undefined);
      for (const [index, result] of results.entries()) {
        const holder = holders[index]!;
        if (result.status === 'fulfilled') this.#apply(holder, result.value);
        else if (isAppError(result.reason)) closeRefused(holder, result.reason.status);
        else this.#checkLater([holder], now, result.reason);
      }
    } catch (error) {
      // Any failure: the sockets stay as they are, and are checked again soon.
      this.#checkLater(holders, now, error);
    } finally {
      for (const holder of holders) holder.isChecking = false;
    }
  }

  #apply(holder: Holder, access: Access): void {
    holder.access = access;
    for (const client of holder.clients) {
      if (access.receivesStaffEvents) this.#staff.add(client);
      else this.#staff.delete(client);
    }
  }

  #checkLater(holders: readonly Holder[], now: number, error: unknown): void {
    for (const holder of holders) holder.checkAt = now + CHECK_AGAIN_MS;
    this.#app.log.warn({ err: error, feed: this.rules.name }, 'the credential of open sockets could not be checked');
  }
}

/** Policies may depend on the address, so one credential may allow more from one address than from another. */
function holderKey(credential: string, ip: string | null): string {
  return `${ip ?? ''} ${credential}`;
}

/** Close reason of a socket whose credential is refused with this HTTP status. */
export function refusalReason(status: number): string {
  return status >= 500 ? 'Try again later' : INVALID_REASON;
}

function closeRefused(holder: Holder, status: number): void {
  closeAll(holder, status >= 500 ? CLOSE.tryLater : CLOSE.policy, refusalReason(status));
}

function closeAll(holder: Holder, code: number, reason: string): void {
  for (const client of holder.clients) client.close(code, reason);
}

/** Clients served before the event loop may do something else. */
const SLICE = 500;
/** Frames of events that arrive together are written together, up to this size. */
const MAX_WRITE_BYTES = 256 * 1024;

/** What the fan-out needs of a client. */
export type Listener = Pick<FeedClient, 'firstFrame' | 'sendLive'>;

/** Frames in one write. */
interface Bundle {
  bytes: Buffer;
  /** Number of the first frame; frames are numbered in the order of `publish`. */
  first: number;
  /** Where each frame ends in `bytes`. */
  ends: readonly number[];
}

/**
 * Writes frames to every client of a live set, in the order of `publish`. Long sets are served in slices, so that a burst of
 * events does not delay requests; frames that arrive meanwhile are sent with one write for each client. A client receives the frames that
 * are published after it has joined.
 */
export class FanOut {
  readonly #clients: ReadonlySet<Listener>;
  #waiting: Buffer[] = [];
  #isRunning = false;
  #published = 0;
  #whenIdle: (() => void)[] = [];

  constructor(clients: ReadonlySet<Listener>) {
    this.#clients = clients;
  }

  /** Number that the next frame gets. */
  get next(): number {
    return this.#published;
  }

  publish(frame: Buffer): void {
    this.#published += 1;
    if (this.#clients.size === 0 && !this.#isRunning) return;
    this.#waiting.push(frame);
    if (this.#isRunning) return;
    this.#isRunning = true;
    runOutsideTransaction(() => setImmediate(() => this.#next()));
  }

  /** Resolves when every published frame is written. */
  async idle(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #next(): void {
    const bundle = this.#take();
    if (bundle === null) {
      this.#isRunning = false;
      for (const resolve of this.#whenIdle.splice(0)) resolve();
    } else this.#write(bundle, this.#clients.values());
  }

  #take(): Bundle | null {
    const first = this.#published - this.#waiting.length;
    const ends: number[] = [];
    let size = 0;
    while (ends.length < this.#waiting.length && (size === 0 || size + this.#waiting[ends.length]!.length <= MAX_WRITE_BYTES)) {
      size += this.#waiting[ends.length]!.length;
      ends.push(size);
    }
    const taken = this.#waiting.splice(0, ends.length);
    if (taken.length === 0) return null;
    return { bytes: taken.length === 1 ? taken[0]! : Buffer.concat(taken, size), first, ends };
  }

  /** The iterator continues after the pause: a client that has left is skipped, one that has joined is served. */
  #write(bundle: Bundle, clients: Iterator<Listener>): void {
    for (let served = 0; served < SLICE; served += 1) {
      const step = clients.next();
      if (step.done) {
        setImmediate(() => this.#next());
        return;
      }
      sendFrom(step.value, bundle);
    }
    setImmediate(() => this.#write(bundle, clients));
  }
}

/** A client that joined while the frames were waiting has the events of the earlier ones already. */
function sendFrom(client: Listener, { bytes, first, ends }: Bundle): void {
  const skipped = client.firstFrame - first;
  if (skipped <= 0) client.sendLive(bytes);
  else if (skipped < ends.length) client.sendLive(bytes.subarray(ends[skipped - 1]!));
}
