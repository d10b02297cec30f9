import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { HOUR_MS, SECOND_MS } from '../../core/clock.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { drop, peek, putIfAbsent } from '../../core/short-lived.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import type { Release } from './ports.ts';

/** `bot` is this service, `cabinet` its pages. */
type Project = 'bot' | 'cabinet';

/** The last list that could be read, shared by all instances. */
interface StoredList {
  repo: string;
  releases: Release[];
  /** ISO 8601. */
  fetchedAt: string;
}

export interface ProjectReleases {
  /** Empty when unknown. */
  currentVersion: string;
  hasUpdates: boolean;
  /** In the order of the platform, at most 10. */
  releases: Release[];
  /** Empty when no repository is set. */
  repoUrl: string;
}

const FRESH_MS = HOUR_MS;
const SHOWN = 10;
/** Longer than a reading takes, in case that its process dies. */
const CLAIM_SECONDS = 20;
/** A reading has ended after this time. */
const LONGEST_READING_MS = 11 * SECOND_MS;
const LOOK_MS = 100;

/** Releases of both projects, read again when they are an hour old; failures leave the last list (spec 06 section 14). Never throws for them. */
export async function readReleases(app: App): Promise<Record<Project, ProjectReleases>> {
  const [bot, cabinet] = await Promise.all([listOf(app, 'bot', FRESH_MS), listOf(app, 'cabinet', FRESH_MS)]);
  const currentVersion = app.ports.instance.version();
  const hasUpdates = app.settings.get('VERSION_CHECK_ENABLED') && bot.some(({ tagName }) => isNewer(tagName, currentVersion));
  const newest = cabinet.find(({ prerelease }) => !prerelease);
  return {
    bot: { ...shown(app, 'bot', bot), currentVersion, hasUpdates },
    cabinet: { ...shown(app, 'cabinet', cabinet), currentVersion: newest?.tagName ?? '', hasUpdates: false },
  };
}

/** Looks for a new version (job `updates.check`) and tells the administrators, once for each. */
export async function checkForUpdate(app: App): Promise<void> {
  if (app.settings.get('VERSION_CHECK_ENABLED')) await listOf(app, 'bot', 0);
}

function shown(app: App, project: Project, releases: Release[]) {
  const repo = repoOf(app, project);
  return { releases: releases.slice(0, SHOWN), repoUrl: repo === null ? '' : app.ports.releases.pageOf(repo) };
}

/** Null when none is set, or what is set is no repository. */
function repoOf(app: App, project: Project): string | null {
  const repo = (project === 'bot' ? app.settings.get('VERSION_CHECK_REPO') : app.env.releases.cabinetRepo)?.trim() ?? '';
  const names = repo.split('/');
  return names.length === 2 && names.every((name) => /^(?!\.{1,2}$)[\w.-]{1,100}$/.test(name)) ? repo : null;
}

/**
 * The stored list if it is younger than `freshMs`, else a new one. One caller at a time reads a new one; the others get the stored one, or
 * wait for the first list of all.
 */
async function listOf(app: App, project: Project, freshMs: number): Promise<Release[]> {
  const repo = repoOf(app, project);
  if (repo === null) return [];
  const isFresh = ({ fetchedAt }: StoredList) => app.clock.now().getTime() - Date.parse(fetchedAt) < freshMs;
  const known = await storedList(app, project, repo);
  if (known !== null && isFresh(known)) return known.releases;
  const key = keyOf(project);
  if (!(await putIfAbsent(app, key, {}, CLAIM_SECONDS))) return (known ?? (await awaitList(app, project, repo)))?.releases ?? [];
  try {
    // Another caller may have stored one between the look and the claim.
    const stored = await storedList(app, project, repo);
    if (stored !== null && isFresh(stored)) return stored.releases;
    const releases = await app.ports.releases.listReleases(repo);
    await writeState(app.db, key, { repo, releases, fetchedAt: app.clock.now().toISOString() } satisfies StoredList);
    if (project === 'bot') await notifyOfUpdate(app, repo, releases);
    return releases;
  } catch (error) {
    // Any failure: the last list stays.
    app.log.warn({ err: error, project }, 'updates: the releases could not be read; the last list stays');
    return known?.releases ?? [];
  } finally {
    await drop(app, key);
  }
}

const keyOf = (project: Project) => `updates:${project}`;

async function storedList(app: App, project: Project, repo: string): Promise<StoredList | null> {
  const stored = await readState<StoredList>(app.db, keyOf(project));
  return stored?.repo === repo ? stored : null;
}

/** Waits for the list that another caller reads; null when it could not read one. */
async function awaitList(app: App, project: Project, repo: string): Promise<StoredList | null> {
  for (let waited = 0; waited < LONGEST_READING_MS; waited += LOOK_MS) {
    await wait(LOOK_MS, undefined, { ref: false });
    const isReading = (await peek(app, keyOf(project))) !== null;
    // Looked for after the claim, which is dropped after the list is stored.
    const list = await storedList(app, project, repo);
    if (list !== null || !isReading) return list;
  }
  return null;
}

/**
 * Tells the administrators' chat of the newest version, once for each tag, whichever instance finds it. Without a chat
 * it is reported when there is one.
 */
async function notifyOfUpdate(app: App, repo: string, releases: readonly Release[]): Promise<void> {
  if (!app.settings.get('VERSION_CHECK_ENABLED')) return;
  const version = app.ports.instance.version();
  const [first, ...others] = releases.filter(({ tagName }) => isNewer(tagName, version));
  if (first === undefined) return;
  const newest = others.reduce((best, release) => (isNewer(release.tagName, best.tagName) ? release : best), first);
  await inTransaction(app, async (t) => {
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
    if (chat === null || !(await insertNotice(t.db, repo, newest.tagName, t.clock.now()))) return;
    const values = { version: newest.tagName, name: newest.name, current: version, url: t.ports.releases.pageOf(repo) };
    await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'operations.update_found', values) });
  });
}

// Order of versions (spec 06 section 14, updates).

const VERSION = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(-dev\.?(\d{0,9}))?$/i;

/** Four numbers, then the number of the `-dev` build, which is infinite for a finished version. */
function partsOf(version: string): number[] {
  const [, numbers = '0', isBuild, build] = VERSION.exec(version.trim()) ?? [];
  const [major = 0, minor = 0, patch = 0, fourth = 0] = numbers.split('.').map(Number);
  return [major, minor, patch, fourth, isBuild === undefined ? Number.POSITIVE_INFINITY : Number(build)];
}

/** Whether `version` comes after `other`: `v` does not matter, `X-devN` comes before X, what is no version is 0.0.0. */
export function isNewer(version: string, other: string): boolean {
  const [a, b] = [partsOf(version), partsOf(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! > b[at]!;
}

/** @returns whether nobody was notified of this release before; of several callers at once, one gets true */
async function insertNotice(db: Db, repo: string, tag: string, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `INSERT INTO release_notices (repo, tag, created_at) VALUES ($1, $2, $3::timestamptz)
     ON CONFLICT (repo, tag) DO NOTHING RETURNING repo`,
    [repo, tag, now],
  );
  return rows.length > 0;
}
