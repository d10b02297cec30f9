/** Each operation on the mount does and answers what it does at the root, in the words of the client (spec 09 W1, W2). */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiReply, testServer } from '../support/api.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { UploadForm } from '../support/upload-form.ts';
import { WITH_BAN_SYSTEM } from './ban-system-writes.ts';
import { operationsOf } from './operation-cases.ts';
import { type RightRequest, rightRequest, sendUnlimited } from './right-request.ts';

const operations = operationsOf(documentOfService as never);
const named = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

/** Words of no product, so that none of them can be in an answer by itself. */
const WORD_OF: Record<string, string> = { messenger: 'acme', vpnpanel: 'panelco' };
const OUR_WORD = /messenger|vpnpanel/gi;

let t: TestApp;
let server: FastifyInstance;
let compared = 0;
let accepted = 0;
let renamedNames = 0;

beforeAll(async () => {
  const environment = {
    YOOKASSA_RECURRENT_ENABLED: 'true',
    INTERFACE_WORDS: 'acme=messenger,panelco=vpnpanel',
    ...WITH_BAN_SYSTEM,
  };
  t = await testApp({ environment });
  server = await testServer(t.app);
});
afterAll(async () => {
  await server.close();
  expect(await storedInClientWords()).toEqual([]);
  expect(accepted / compared).toBeGreaterThan(0.7);
  expect(renamedNames).toBeGreaterThan(0);
});

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

const sendAtRoot = (method: string, { client, path, body }: RightRequest): Promise<ApiReply> =>
  sendUnlimited(t, client, method as never, path, body);

const sendOnMount = (method: string, { client, path, body }: RightRequest): Promise<ApiReply> => {
  const sent = body instanceof UploadForm ? body : clientBody(body);
  return sendUnlimited(t, client, method as never, `/compat${clientName(path)}`, sent);
};

/** Fields by place, without the indexes of lists: they do not depend on which things were asked for. */
function fieldsOf(value: unknown, place: string, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const each of value) fieldsOf(each, `${place}[]`, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      found.add(`${place}/${key}`);
      fieldsOf(each, `${place}/${key}`, found);
    }
  }
  return found;
}

/** Texts at which an answer on the mount is not that of the root in other words. `again` shows what changes by itself. */
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
  if (root === mount || !isSame(root, again)) return [];
  return typeof root === 'string' && clientName(root) === mount ? [] : [`${place}: ${String(root)} is ${String(mount)}`];
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Rows of any table in which something is stored in the words of the client (spec 09 W5). */
async function storedInClientWords(): Promise<string[]> {
  const { sql } = t.app.db;
  const tables = await sql<{ name: string }>(
    "SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
  );
  const searches = tables.map(
    ({ name }) => `(SELECT '${name}: ' || r::text AS row FROM ${name} r WHERE r::text ~* 'acme|panelco' LIMIT 3)`,
  );
  return (await sql<{ row: string }>(searches.join(' UNION ALL '))).map(({ row }) => row);
}

test.each(sampleOf(named, ([name]) => name))('%s', async (name, operation) => {
  const first = await rightRequest(t, server, name, operation);
  const root = await sendAtRoot(operation.method, first);
  compared += 1;
  if (root.status < 300) accepted += 1;
  if (operation.method === 'GET') {
    const mount = await sendOnMount('GET', first);
    const again = await sendAtRoot('GET', first);
    expect(mount.status).toBe(root.status);
    expect(faultsOf(root.body, again.body, mount.body, '')).toEqual([]);
    return;
  }
  // A write needs things of its own, since the first has changed them. Where their names are taken now, they are at the root, too.
  const mount = await sendOnMount(operation.method, await rightRequest(t, server, name, operation));
  if (mount.status !== root.status) {
    const again = await sendAtRoot(operation.method, await rightRequest(t, server, name, operation));
    expect([mount.status, mount.body]).toEqual([again.status, again.body]);
  }
  const fields = [...fieldsOf(mount.body, '')];
  expect(fields.filter((field) => /messenger|vpnpanel/i.test(field))).toEqual([]);
  expect([...fieldsOf(root.body, '')].filter((field) => /acme|panelco/i.test(field))).toEqual([]);
});
