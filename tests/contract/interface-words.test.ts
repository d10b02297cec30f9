/**
 * Each operation on the mount does and answers what it does at the root, in the words of the client (spec 09 W1, W2, W5 and W16). Two databases are
 * filled alike; the same requests are sent to one in our words at the root and to the other one in the client's on the mount.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generalPositions } from '../../src/rest/interface-words/identifier-positions.ts';
import { type ApiReply, testServer } from '../support/api.ts';
import { numberedFrom } from '../support/builders.ts';
import { leastShare, sampleOf } from '../support/matrix-sample.ts';
import { compareRefusal } from '../support/refusal-recorder.ts';
import { withRepeatableChance } from '../support/repeatable-chance.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, TestClock, testApp } from '../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../support/test-database.ts';
import { type TestSandbox, withOtherSandbox } from '../support/test-sandbox.ts';
import { UploadForm } from '../support/upload-form.ts';
import { type WriteWatch, type WrittenRows, watchWrites } from '../support/written-rows.ts';
import { WITH_BAN_SYSTEM } from './ban-system-writes.ts';
import { operationsOf } from './operation-cases.ts';
import { type RightRequest, rightRequest, sendUnlimited, wholeRequest } from './right-request.ts';

const operations = operationsOf(documentOfService as never);
const named = operations.map((operation, index) => [`${operation.method} ${operation.path}`, operation, index] as const);

/** Words of no product, and so long that random text does not contain them: none can be in an answer or a row by itself. */
const WORD_OF: Record<string, string> = { messenger: 'acmetalk', vpnpanel: 'panelcorp' };
const OUR_WORD = /messenger|vpnpanel/gi;

interface Side {
  t: TestApp;
  server: FastifyInstance;
  database: TestDatabase;
  sandbox: TestSandbox;
  watch: WriteWatch;
}

/** Counted by address; put together in one of many writes, by chance. */
const NOT_COMPARED = '^rate_limit_windows$|_counters$|^transaction_day_counts$';
const NUMBERS_OF_A_CASE = 1_000;

let sides: [root: Side, mount: Side];
let compared = 0;
let accepted = 0;
let renamedNames = 0;

beforeAll(async () => {
  const clock = new TestClock();
  sides = [await openSide(clock), await openSide(clock)];
});
afterAll(async () => {
  try {
    expect(await storedInClientWords(sides[1].t)).toEqual([]);
    expect(accepted / compared).toBeGreaterThan(leastShare(0.7, compared, named.length));
    expect(renamedNames).toBeGreaterThan(0);
  } finally {
    for (const side of sides) await closeSide(side);
  }
});

async function openSide(clock: TestClock): Promise<Side> {
  const database = await freshDatabase();
  const environment = {
    YOOKASSA_RECURRENT_ENABLED: 'true',
    INTERFACE_WORDS: 'acmetalk=messenger,panelcorp=vpnpanel',
    ...WITH_BAN_SYSTEM,
  };
  const { sandbox, made: t } = await withOtherSandbox(undefined, () => testApp({ environment, database, clock }));
  const server = await testServer(t.app, compareRefusal);
  return { t, server, database, sandbox, watch: await watchWrites(t.app.db.sql, NOT_COMPARED) };
}

async function closeSide({ server, database, sandbox }: Side): Promise<void> {
  await server.close();
  for (const each of Object.values(sandbox.servers)) await each.close();
  await database.drop();
}

/** Does the same on both sides: with the same random values and numbers, each with fakes of its own. */
async function onBoth<T>(seed: string, index: number, work: (side: Side) => Promise<T>): Promise<[root: T, mount: T]> {
  const results: T[] = [];
  for (const side of sides) {
    const run = () => withRepeatableChance(seed, () => numberedFrom(index * NUMBERS_OF_A_CASE, () => work(side)));
    results.push((await withOtherSandbox(side.sandbox, run)).made);
    await side.t.ports.audit.flush();
  }
  return results as [T, T];
}

/** A name in the words of the client, without the code under test. */
const clientName = (name: string): string =>
  name.replace(OUR_WORD, (word) => {
    const client = WORD_OF[word.toLowerCase()]!;
    if (word === word.toUpperCase()) return client.toUpperCase();
    return word === word.toLowerCase() ? client : client.charAt(0).toUpperCase() + client.slice(1);
  });

const IDENTIFIER = /^(?:messenger|vpnpanel|messenger_stars\w*|vpnpanel:(?:\w+|\*)|(?:VPNPANEL|MESSENGER)_\w+)$/;

function clientBody(value: unknown): unknown {
  if (typeof value === 'string') return IDENTIFIER.test(value) ? clientName(value) : value;
  if (Array.isArray(value)) return value.map(clientBody);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [clientName(key), clientBody(each)]));
}

const sendTo = (side: Side, method: string, { client, path, body }: RightRequest): Promise<ApiReply> => {
  if (side === sides[0]) return sendUnlimited(side.t, client, method as never, path, body);
  const sent = body instanceof UploadForm ? body : clientBody(body);
  return sendUnlimited(side.t, client, method as never, `/compat${clientName(path)}`, sent);
};

/** What depends on the time of the run, on ports and on values by chance. */
const BY_CHANCE: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)?/g, 'TIME'],
  [/\b1[789]\d{8}(?:\d{3})?\b/g, 'SECONDS'],
  [/127\.0\.0\.1:\d+/g, 'PORT'],
  [/"transaction_number":\d+/g, 'NUMBER'],
  // What the panel and the database make.
  [/\/sub\/[-\w]{16}/g, 'LINK'],
  [/crypt4\/[-\w]+/g, 'LINK'],
  [/"(?:(?:ss|trojan)_password|vpnpanel_short_uuid)":"[^"]*"/g, 'SECRET'],
  // A webhook has the words of where it was made (spec 09 section 3).
  [/"has_client_words":(?:true|false)/, 'WORDS'],
  [/[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g, 'UUID'],
  [/\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}/g, 'HASH'],
];
const masked = (text: string): string => BY_CHANCE.reduce((all, [pattern, sign]) => all.replace(pattern, sign), text);

/** The names at whose place an identifier is renamed in every operation. */
const POSITIONS = new Set(generalPositions.filter(({ values }) => values !== 'placeholders').flatMap(({ names }) => names));

/** Depend on when the answer is made, and on how far the work has come then. */
const BY_TIME: Record<string, RegExp> = {
  'POST /polls/{poll_id}/send': /^\/sent:/,
  'GET /cabinet/admin/stats/system-info': /^\/uptime_seconds:/,
  // Written after the answer to the first request with the token.
  'GET /tokens': /^\/\d+\/last_used_(?:at|ip):/,
};

/** Places at which an answer on the mount is not that of the root in other words. `again` shows what changes by itself. */
function faultsOf(root: unknown, again: unknown, mount: unknown, place: string): string[] {
  if (typeof root === 'object' && root !== null && typeof mount === 'object' && mount !== null) {
    const [names, others] = [Object.keys(root), Object.keys(mount)];
    if (names.length !== others.length) return isSame(root, again) ? [`${place}: ${names.length} fields, ${others.length}`] : [];
    return names.flatMap((name, index) => {
      const other = Array.isArray(root) ? name : others[index]!;
      // A name with a space is a label.
      const isNamed = other === (name.includes(' ') ? name : clientName(name));
      if (other !== name) renamedNames += 1;
      const inside = faultsOf(fieldOf(root, name), fieldOf(again, name), fieldOf(mount, other), `${place}/${name}`);
      return isNamed ? inside : [`${place}/${name} is ${other}`, ...inside];
    });
  }
  if (!isSame(root, again) || place.endsWith('short_uuid')) return [];
  if (typeof root !== 'string' || typeof mount !== 'string')
    return root === mount ? [] : [`${place}: ${String(root)} is ${String(mount)}`];
  const position = place
    .replace(/\/\d+$/, '')
    .split('/')
    .at(-1)!;
  if (POSITIONS.has(position) && IDENTIFIER.test(root))
    return mount === clientName(root) ? [] : [`${place}: ${root} stays ${mount}`];
  return masked(root) === masked(mount) || clientName(root) === mount ? [] : [`${place}: ${root} is ${mount}`];
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Rows and events that only one side has written. */
function rowFaults(root: WrittenRows, mount: WrittenRows): string[] {
  const [ours, theirs] = [root, mount].map(({ rows }) => new Map(rows.map((row) => [masked(row), row])));
  const only = (one: Map<string, string>, other: Map<string, string>, where: string) =>
    [...one].filter(([row]) => !other.has(row)).map(([, row]) => `${where}: ${row}`);
  const left = Object.keys(root.left).filter((name) => root.left[name] !== mount.left[name]);
  return [
    ...only(ours!, theirs!, 'only at the root'),
    ...only(theirs!, ours!, 'only on the mount'),
    ...left.map((name) => `${name}: ${root.left[name]} at the root, ${mount.left[name]} on the mount`),
  ];
}

/** Rows of any table in which something is stored in the words of the client. */
async function storedInClientWords({ app }: TestApp): Promise<string[]> {
  const { sql } = app.db;
  const tables = await sql<{ name: string }>(
    "SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
  );
  const searches = tables.map(
    ({ name }) => `(SELECT '${name}: ' || r::text AS row FROM ${name} r WHERE r::text ~* 'acmetalk|panelcorp' LIMIT 3)`,
  );
  return (await sql<{ row: string }>(searches.join(' UNION ALL '))).map(({ row }) => row);
}

/** A case has a second and more: all of them would be a third of the tests on a database. */
const ONE_IN_OF_ALL = 5;
/** In every sample: fields of its answer have other names on the mount. */
const RENAMED = 'GET /users/{user_id}';
const sample = sampleOf(named, ([name]) => name, ONE_IN_OF_ALL);
const cases = named.filter((each) => each[0] === RENAMED || sample.includes(each));

test.each(cases)('%s', async (name, operation, index) => {
  for (const { watch } of sides) await watch.restart();
  const replies = await onBoth(name, index, async (side) => {
    const right = await rightRequest(side.t, side.server, name, operation);
    const whole = wholeRequest(right, operation);
    const sent: ApiReply[] = [];
    for (const request of whole === null ? [right] : [right, whole]) sent.push(await sendTo(side, operation.method, request));
    const again = operation.method === 'GET' ? await sendTo(side, 'GET', right) : sent[0]!;
    return { sent, again };
  });
  const [root, mount] = replies;
  compared += 1;
  if (root.sent[0]!.status < 300) accepted += 1;
  for (const [number, ours] of root.sent.entries()) {
    const theirs = mount.sent[number]!;
    expect([theirs.status, theirs.headers['content-type']]).toEqual([ours.status, ours.headers['content-type']]);
    if (ours.body === undefined) expect(masked(theirs.text)).toBe(masked(ours.text));
    else {
      const found = faultsOf(ours.body, number === 0 ? root.again.body : ours.body, theirs.body, '');
      expect(found.filter((fault) => !BY_TIME[name]?.test(fault))).toEqual([]);
    }
  }
  const written = async () => rowFaults(await sides[0].watch.read(), await sides[1].watch.read());
  await expect.poll(written, { timeout: 20_000 }).toEqual([]);
});
