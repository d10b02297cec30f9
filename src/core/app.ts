import type { AuditRecorder } from './audit.ts';
import type { SharedCache } from './cache/shared-cache.ts';
import type { Clock } from './clock.ts';
import type { Db } from './db/db.ts';
import type { Env } from './env.ts';
import type { EventRecorder } from './events/event-recorder.ts';
import type { JobSender } from './jobs/job-sender.ts';
import type { Logger } from './log.ts';
import type { Random } from './random.ts';

/**
 * Outside systems by name. Empty here: each domain module that declares a port adds it by declaration merging,
 * so `core` knows no domain: `declare module '../../core/app.ts' { interface Ports { panel: VpnPanelPort } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging in the domain's ports.ts files
export interface Ports {}

/** Value type of each setting key; filled by declaration merging in `domain/settings/types.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface SettingTypes {}

/** Effective settings: environment, else stored override, else default (spec 06 section 6). Reading never touches the database. */
export interface SettingsReader {
  get<K extends keyof SettingTypes>(key: K): SettingTypes[K];
}

/**
 * Everything a use case may reach, passed first to every domain function.
 * Inside a transaction a derived `App` carries the transaction's `db`, `jobs` and `events` (`core/db/transaction.ts`).
 */
export interface App {
  readonly env: Env;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly db: Db;
  readonly jobs: JobSender;
  readonly events: EventRecorder;
  readonly settings: SettingsReader;
  readonly cache: SharedCache;
  readonly ports: Ports;
  /** Set while an administrator's request runs: use cases record there what they changed (`t.audit?.record(…)`). */
  readonly audit?: AuditRecorder;
}
