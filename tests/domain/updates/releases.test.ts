import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LoopbackReply, type LoopbackServer, startLoopbackServer } from '../../../packages/sandbox/src/loopback-server.ts';
import { HOUR_MS } from '../../../src/core/clock.ts';
import type { Release } from '../../../src/domain/updates/ports.ts';
import { checkForUpdate, readReleases } from '../../../src/domain/updates/releases.ts';
import { adminClient } from '../../support/actors.ts';
import { testServer } from '../../support/api.ts';
import { unique } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { TestClock, testApp } from '../../support/test-app.ts';

let platform: LoopbackServer;
/** What the platform answers for each repository. */
const answers = new Map<string, LoopbackReply>();
const calls: string[] = [];
let bot: string;
let cabinet: string;

beforeAll(async () => {
  platform = await startLoopbackServer(async ({ path, query }) => {
    calls.push(`${path}?${query}`);
    return answers.get(path) ?? { status: 404, contentType: 'application/json', body: '{}' };
  });
});
afterAll(() => platform.close());
beforeEach(() => {
  [bot, cabinet] = [`owner/bot-${unique()}`, `owner/cabinet-${unique()}`];
  calls.length = 0;
});
afterEach(() => answers.clear());

const release = (tag: string, more: object = {}) => ({
  tag_name: tag,
  name: `Name ${tag}`,
  body: 'Notes',
  published_at: '2026-01-02T03:04:05Z',
  prerelease: false,
  draft: false,
  ...more,
});
const publish = (repo: string, body: unknown, status = 200) =>
  answers.set(`/repos/${repo}/releases`, {
    status,
    contentType: 'application/json',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function anInstallation(environment: Record<string, string> = {}, clock = new TestClock()) {
  const chatId = -2_000_000 - unique();
  const made = await testApp({
    clock,
    environment: {
      RELEASES_API_URL: `${platform.url}/`,
      VERSION_CHECK_REPO: bot,
      CABINET_REPO: cabinet,
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(chatId),
      ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID: '77',
      ...environment,
    },
  });
  const notices = () =>
    made.app.db.sql<{ html: string; thread: string }>(
      `SELECT data ->> 'html' AS html, data ->> 'threadId' AS thread FROM jobs.job
       WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint`,
      [chatId],
    );
  return { ...made, notices };
}

describe('06 14: releases', () => {
  test('ten of twenty in the order of the platform, without drafts and what has no tag', async () => {
    const many = Array.from({ length: 25 }, (_, n) => release(`v0.0.${n}`));
    publish(bot, [release('v9', { draft: true }), 5, null, { name: 'x' }, ...many]);
    publish(cabinet, [release('v2.0-beta', { prerelease: true }), release('v1.5', { name: null, body: null }), release('v1.4')]);
    const { app } = await anInstallation();
    const found = await readReleases(app);
    expect(calls.sort()).toEqual([`/repos/${bot}/releases?per_page=20`, `/repos/${cabinet}/releases?per_page=20`]);
    expect(found.bot.releases.map(({ tagName }) => tagName)).toEqual(many.slice(0, 10).map(({ tag_name }) => tag_name));
    expect(found.bot).toMatchObject({ currentVersion: '0.0.0-test', repoUrl: `https://github.com/${bot}` });
    expect(found.cabinet).toMatchObject({ currentVersion: 'v1.5', hasUpdates: false });
    expect(found.cabinet.releases[1]).toEqual({
      tagName: 'v1.5',
      name: 'v1.5',
      body: '',
      publishedAt: '2026-01-02T03:04:05.000Z',
      prerelease: false,
    });
  });

  test('an update is any newer release, previews too', async () => {
    publish(bot, [release('v1.0.0', { prerelease: true })]);
    expect((await readReleases((await anInstallation()).app)).bot.hasUpdates).toBe(true);
  });

  test('no release is an update while the check is off', async () => {
    publish(bot, [release('v1.0.0', { prerelease: true })]);
    const { app, notices } = await anInstallation({ VERSION_CHECK_ENABLED: 'false' });
    expect((await readReleases(app)).bot).toMatchObject({ hasUpdates: false, releases: [{ tagName: 'v1.0.0' }] });
    await checkForUpdate(app);
    expect(await notices()).toEqual([]);
  });

  test('an hour is cached for all instances, whatever restarts', async () => {
    publish(bot, [release('v1')]);
    publish(cabinet, []);
    const first = await anInstallation();
    await readReleases(first.app);
    const second = await anInstallation({}, first.clock);
    expect((await readReleases(second.app)).bot.releases).toHaveLength(1);
    expect(calls).toHaveLength(2);
    first.clock.advance(HOUR_MS);
    publish(bot, [release('v2'), release('v1')]);
    expect((await readReleases(second.app)).bot.releases).toHaveLength(2);
    expect(calls).toHaveLength(4);
  });

  test.each([
    ['an error', { body: {}, status: 500 }],
    ['the limit of requests', { body: {}, status: 403 }],
    ['what is no JSON', { body: '<html>', status: 200 }],
    ['another type', { body: { message: 'x' }, status: 200 }],
  ])('%s leaves the last list, and the next call tries again', async (_what, { body, status }) => {
    publish(bot, [release('v1')]);
    publish(cabinet, [release('v3')]);
    const { app, clock } = await anInstallation();
    await readReleases(app);
    clock.advance(HOUR_MS);
    publish(bot, body, status);
    publish(cabinet, body, status);
    const kept = await readReleases(app);
    expect(kept.bot.releases[0]!.tagName).toBe('v1');
    expect(kept.cabinet.currentVersion).toBe('v3');
    publish(bot, [release('v2')]);
    expect((await readReleases(app)).bot.releases[0]!.tagName).toBe('v2');
  });

  test('nothing breaks without the internet or a repository, and another repository does not show the old list', async () => {
    publish(bot, [release('v1')]);
    await readReleases((await anInstallation()).app);
    const offline = await anInstallation({ RELEASES_API_URL: 'http://127.0.0.1:9', VERSION_CHECK_REPO: `${bot}-2` });
    expect((await readReleases(offline.app)).bot).toMatchObject({ releases: [], hasUpdates: false });
    const before = calls.length;
    for (const repo of ['', 'one', 'a/b/c', '../x', 'a/..', 'a b/c'])
      expect((await readReleases((await anInstallation({ VERSION_CHECK_REPO: repo })).app)).bot).toMatchObject({
        releases: [],
        repoUrl: '',
      });
    expect(calls.filter((call) => !call.includes(cabinet)).length).toBe(before - 1);
  });

  test('two who ask for the first list at once both get it by one call, the second waiting no longer than the first', async () => {
    const [first, second] = [await anInstallation(), await anInstallation()];
    let answer: (isAnswered: boolean) => void = () => undefined;
    const slow = (list: Release[] | null) => {
      const answered = new Promise<boolean>((resolve) => {
        answer = resolve;
      });
      first.app.ports.releases.listReleases = async () => {
        await answered;
        if (list === null) throw new Error('no answer');
        return list;
      };
    };
    second.app.ports.releases.listReleases = async () => {
      throw new Error('asked twice');
    };
    const repo = { tagName: 'v1', name: 'v1', body: '', publishedAt: '2026-01-02T03:04:05.000Z', prerelease: false };
    for (const [list, expected] of [
      [null, 0],
      [[repo], 1],
    ] as const) {
      slow(list && [...list]);
      const reading = readReleases(first.app);
      await eventually(async () => {
        const claims = await first.app.db.sql("SELECT key FROM short_lived_entries WHERE key LIKE 'updates:%'");
        expect(claims).toHaveLength(2);
      });
      const waiting = readReleases(second.app);
      answer(true);
      for (const { bot: found } of await Promise.all([reading, waiting])) expect(found.releases).toHaveLength(expected);
    }
  });

  test('texts that the database cannot store are cut', async () => {
    publish(bot, [release('v1', { name: 'a\u0000b', body: `${'x'.repeat(70_000)}\ud800` })]);
    const [found] = (await readReleases((await anInstallation()).app)).bot.releases;
    expect(found).toMatchObject({ name: 'ab' });
    expect(found!.body).toHaveLength(65_536);
  });
});

describe('06 14: notice of an update', () => {
  test('once for each tag, of the newest version, also from the page, and again after the tag changed', async () => {
    publish(bot, [release('v1.1'), release('v1.10', { name: 'Big <b>one</b>' }), release('v1.9')]);
    const { app, clock, notices } = await anInstallation();
    await readReleases(app);
    await checkForUpdate(app);
    clock.advance(2 * HOUR_MS);
    await readReleases(app);
    expect(await notices()).toEqual([{ html: expect.stringContaining('v1.10'), thread: '77' }]);
    expect((await notices())[0]!.html).toContain('Big &lt;b&gt;one&lt;/b&gt;');
    publish(bot, [release('v1.11'), release('v1.10')]);
    await checkForUpdate(app);
    publish(bot, [release('v1.10')]);
    await checkForUpdate(app);
    expect((await notices()).map(({ html }) => /v1\.1\d/.exec(html)![0]).sort()).toEqual(['v1.10', 'v1.11']);
  });

  test('without a chat it waits until there is one', async () => {
    publish(bot, [release('v5')]);
    const silent = await anInstallation({ ADMIN_NOTIFICATIONS_ENABLED: 'false' });
    await checkForUpdate(silent.app);
    const { app, notices } = await anInstallation();
    await checkForUpdate(app);
    expect(await notices()).toHaveLength(1);
  });
});

test('06 14: GET /cabinet/admin/updates/releases', async () => {
  publish(bot, [release('v1.0.0', { prerelease: true })]);
  const { app } = await anInstallation();
  const server: FastifyInstance = await testServer(app);
  const admin = await adminClient(app, server, ['updates:read']);
  const { status, body } = await admin.get('/cabinet/admin/updates/releases');
  expect(status).toBe(200);
  expect(body.bot).toEqual({
    current_version: '0.0.0-test',
    has_updates: true,
    releases: [
      { tag_name: 'v1.0.0', name: 'Name v1.0.0', body: 'Notes', published_at: '2026-01-02T03:04:05.000Z', prerelease: true },
    ],
    repo_url: `https://github.com/${bot}`,
  });
  expect(body.cabinet).toMatchObject({ current_version: '', has_updates: false, releases: [] });
  const other = await adminClient(app, server, ['users:read']);
  expect((await other.get('/cabinet/admin/updates/releases')).status).toBe(403);
  await server.close();
});
