/**
 * Merges the refusals that a test run observed, see `tests/support/refusal-recorder.ts`.
 *   npm run refusals                 counts them
 *   npm run refusals -- --write      writes src/rest/descriptions/refusals.json
 *   npm run refusals -- --check      fails if the file and the observed refusals differ; for a run of all projects
 * The run is the folder in REFUSALS_FOLDER, by default `node_modules/.cache/refusals`.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DocumentedRefusal, type DocumentedRefusals, guardOf } from '../src/rest/document-refusals.ts';
import { buildRouteTable } from '../src/rest/route-table.ts';
import { appRouter } from '../src/routers/root.ts';
import type { ObservedRefusal } from '../tests/support/refusal-recorder.ts';

const root = join(import.meta.dirname, '..');
const folder = process.env.REFUSALS_FOLDER ?? join(root, 'node_modules', '.cache', 'refusals');
const file = join(root, 'src', 'rest', 'descriptions', 'refusals.json');

/** What the guard of a credential refuses (spec 01 section 4, spec 02 section 12.1): documented once for all its operations. */
const EVERY_AREA = ['404 not_found', '503 database_unavailable', '415 unsupported_media_type'];
const USER_GATES = ['403 user_not_active', '403 blacklisted', '503 maintenance', '403 channel_subscription_required'];
const SESSIONS = [
  'authentication_required',
  'access_token_invalid',
  'token_payload_invalid',
  'session_ended',
  'other_messenger_account',
].map((code) => `401 ${code}`);
const GUARDS: Readonly<Record<string, readonly string[]>> = {
  web_KEY: [...EVERY_AREA, '401 api_key_missing', '401 api_key_invalid'],
  cabinet_JWT: [...EVERY_AREA, ...SESSIONS, '404 user_not_found', ...USER_GATES],
  cabinet_JWT_ADMIN: [...EVERY_AREA, ...SESSIONS, ...USER_GATES, '403 permission_denied'],
  miniapp_INIT_DATA: [...EVERY_AREA, '401 unauthorized', '404 user_not_found', ...USER_GATES],
};

const routes = new Map(buildRouteTable(appRouter).map((route) => [route.procedurePath, route]));
const observed = group(await readObserved());
const [option] = process.argv.slice(2);
if (option === '--write') {
  await writeFile(file, `${JSON.stringify(observed, null, 2)}\n`);
} else if (option === '--check') {
  const documented = JSON.parse(await readFile(file, 'utf8')) as DocumentedRefusals;
  const differences = [
    ...missingIn(documented, observed).map((line) => `observed, not documented: ${line}`),
    ...missingIn(observed, documented).map((line) => `documented, not observed: ${line}`),
  ];
  if (differences.length > 0) {
    console.error(
      `${differences.join('\n')}\n\n${differences.length} differences. After a full test run: npm run refusals -- --write`,
    );
    process.exit(1);
  }
}
console.log(`${keysOf(observed).size} refusals of ${Object.keys(observed.operations).length} operations were observed.`);

async function readObserved(): Promise<ObservedRefusal[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line) as ObservedRefusal);
}

/** By credential and operation, each code once, with the example that sorts first: the same file for the same observations. */
function group(refusals: readonly ObservedRefusal[]): DocumentedRefusals {
  const areas: Record<string, DocumentedRefusal[]> = {};
  const operations: Record<string, DocumentedRefusal[]> = {};
  for (const { operation, status, code, detail } of refusals) {
    const route = routes.get(operation);
    if (!route) continue;
    const area = guardOf(route.path, route.meta);
    // `not_found` is also the code of a promo code; of a closed area the text is the one of unknown paths.
    const isGuard =
      (GUARDS[area] ?? EVERY_AREA).includes(`${status} ${code}`) && (code !== 'not_found' || detail === 'Not Found');
    const [lists, key] = isGuard ? [areas, area] : [operations, `${route.method} ${route.path}`];
    const list = lists[key] ?? [];
    lists[key] = list;
    const refusal = { status, code, detail: normalised(detail) };
    const known = list.findIndex((other) => other.status === status && other.code === code);
    if (known < 0) list.push(refusal);
    else if (JSON.stringify(refusal) < JSON.stringify(list[known])) list[known] = refusal;
  }
  return { areas: sorted(areas), operations: sorted(operations) };
}

function sorted(lists: Record<string, DocumentedRefusal[]>): Record<string, DocumentedRefusal[]> {
  const byCode = (a: DocumentedRefusal, b: DocumentedRefusal) => a.status - b.status || (a.code < b.code ? -1 : 1);
  const entries = Object.entries(lists).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, list]) => [key, list.sort(byCode)]));
}

/** The detail with what varies from run to run left out: identifiers as `<id>`, numbers as `<n>` in texts and 1 as values. */
function normalised(value: unknown): unknown {
  if (typeof value === 'number') return 1;
  if (typeof value === 'string') {
    return value
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>')
      .replace(/(?<=[A-Za-z_])\d\w*/g, '<id>')
      .replace(/-?\d+(?:[.,\s]\d+)*/g, '<n>');
  }
  if (Array.isArray(value)) return value.slice(0, 1).map(normalised);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, key === 'code' ? part : normalised(part)]));
}

function keysOf({ areas, operations }: DocumentedRefusals): Set<string> {
  return new Set(
    [...Object.entries(areas), ...Object.entries(operations)].flatMap(([key, list]) =>
      list.map(({ status, code }) => `${key}: ${status} ${code}`),
    ),
  );
}

/** What the second has and the first has not. */
function missingIn(first: DocumentedRefusals, second: DocumentedRefusals): string[] {
  return [...keysOf(second).difference(keysOf(first))];
}
