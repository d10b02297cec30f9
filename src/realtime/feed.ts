import type { App } from '../core/app.ts';
import { isAppError } from '../core/errors.ts';
import type { FeedClient } from './feed-client.ts';
import { CLOSE } from './limits.ts';

/** What a credential proved. */
export interface Access {
  /** For logs and to find sockets: `token:3`, `user:17`. */
  actor: string;
  /** Set on `/cabinet/ws`. */
  userId: number | null;
  /** Receives events of the `staff` audience. */
  receivesStaffEvents: boolean;
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
  /** Close reason when there is no credential. */
  readonly missingReason: string;
  readonly maxPerUser: number;
  readonly recheckMs: number;
  /** @throws AppError when the credential is not valid, or no longer */
  authenticate(credential: string, ip: string | null): Promise<Access>;
}

/** Sockets with one credential from one address are checked, and closed, together. */
interface Holder {
  readonly credential: string;
  readonly ip: string | null;
  readonly clients: Set<FeedClient>;
  access: Access;
  checkAt: number;
  isChecking: boolean;
}

export const INVALID_REASON = 'Unauthorized: Invalid token';
/** The area is switched off: the same text as its operations answer; the credential stays valid. */
export const OFF_REASON = 'Not Found';
const MAX_CHECKS_AT_ONCE = 500;
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
  #checks = 0;

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

  /** Closes what has expired, checks what is due, pings. @param now `performance.now()` */
  tick(now: number): void {
    const time = this.#app.clock.now();
    for (const holder of this.#holders.values()) {
      const { expiresAt } = holder.access;
      if (expiresAt !== null && expiresAt <= time) closeAll(holder, CLOSE.policy, INVALID_REASON);
      else if (holder.checkAt <= now && !holder.isChecking && this.#checks < MAX_CHECKS_AT_ONCE) void this.#check(holder, now);
    }
    for (const client of this.clients) client.beat(now);
  }

  async #check(holder: Holder, now: number): Promise<void> {
    holder.isChecking = true;
    holder.checkAt = now + this.rules.recheckMs;
    this.#checks += 1;
    try {
      holder.access = await this.rules.authenticate(holder.credential, holder.ip);
      for (const client of holder.clients) {
        if (holder.access.receivesStaffEvents) this.#staff.add(client);
        else this.#staff.delete(client);
      }
    } catch (error) {
      // Only a refusal closes the connection; an unavailable database must not disconnect everyone.
      if (isAppError(error)) closeAll(holder, error.status >= 500 ? CLOSE.tryLater : CLOSE.policy, refusalReason(error.status));
      else {
        holder.checkAt = now + CHECK_AGAIN_MS;
        this.#app.log.warn({ err: error, feed: this.rules.name }, 'the credential of open sockets could not be checked');
      }
    } finally {
      holder.isChecking = false;
      this.#checks -= 1;
    }
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

function closeAll(holder: Holder, code: number, reason: string): void {
  for (const client of holder.clients) client.close(code, reason);
}
