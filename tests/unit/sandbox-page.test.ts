import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CHAT_SCRIPT } from '../../packages/sandbox/src/page/chat-panel.ts';
import { handleSandboxRequest } from '../../packages/sandbox/src/page/handle-sandbox-request.ts';
import { PAGE_HTML, PAGE_SCRIPT } from '../../packages/sandbox/src/page/sandbox-page.ts';
import type { SandboxRequest } from '../../packages/sandbox/src/page/sandbox-reply.ts';
import type { SandboxView } from '../../packages/sandbox/src/page/sandbox-view.ts';
import { aPng } from '../support/image-samples.ts';

const VERA = { id: 7, first_name: 'Vera' };

function setup() {
  const steps: string[] = [];
  let now = Date.parse('2026-03-01T10:00:00.000Z');
  const step = (name: string) => async (id: string) => {
    steps.push(`${name} ${id}`);
    return id !== 'done';
  };
  const view: SandboxView = {
    mail: { list: async () => [{ id: 1, to: 'a@b.example', subject: 's', text: 't', sentAt: '2026-03-01T10:00:00.000Z' }] },
    messenger: {
      list: async () => [],
      setMember: async (channelId, userId, isMember) => void steps.push(`member ${channelId} ${userId} ${isMember}`),
    },
    chats: {
      bot: async () => ({ username: 'sandbox_bot', commands: [] }),
      people: async () => [VERA],
      add: async (person) => void steps.push(`add ${JSON.stringify(person)}`),
      read: async (id) => (id === VERA.id ? { person: VERA, messages: [], invoices: {}, answer: null } : null),
      sendText: async (id, text) => steps.push(`text ${id} ${text}`) > 0 && id === VERA.id,
      sendPhoto: async (id, { contentType }, caption) => steps.push(`photo ${id} ${contentType} ${caption}`) > 0,
      press: async (id, messageId, data) => steps.push(`press ${id} ${messageId} ${data}`) > 0,
      pay: async (id, link) => (link === 'known' && steps.push(`pay ${id}`) > 0 ? { status: 'paid' } : null),
      repeat: async (id) => steps.push(`repeat ${id}`) > 0,
      file: (id) => (id === 'picture' ? { bytes: aPng(1, 1) } : id === 'page' ? { bytes: Buffer.from('<html>') } : null),
    },
    panel: { users: async () => [], squads: async () => [{ uuid: 'u', name: 'Default', members: 2 }] },
    payments: {
      list: async () => [],
      pay: step('pay'),
      fail: step('fail'),
      refund: step('refund'),
      setDelivery: (delivery) => void steps.push(`delivery ${delivery.duplicates} ${delivery.isPaused}`),
      flush: async () => void steps.push('flush'),
    },
    clock: {
      now: () => new Date(now),
      advance: async (ms) => {
        now += ms;
      },
    },
  };
  const ask = (method: string, path: string, change: Partial<SandboxRequest> = {}) =>
    handleSandboxRequest(view, { method, path, headers: { 'x-sandbox-page': '1' }, body: '', ...change });
  return { ask, steps };
}

describe('sandbox page', () => {
  it('serves page, style and script with a policy that allows nothing else', async () => {
    const { ask } = setup();
    for (const path of ['/sandbox', '/sandbox/', '/sandbox/page.css', '/sandbox/page.js', '/sandbox/chat.js']) {
      const reply = await ask('GET', path);
      expect(reply.status, path).toBe(200);
      expect(reply.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      expect(reply.headers['content-security-policy']).not.toContain('unsafe');
    }
    expect(PAGE_HTML).not.toMatch(/<script>|style=|onclick=|https?:/);
    for (const script of [PAGE_SCRIPT, CHAT_SCRIPT]) {
      expect(() => new Script(script)).not.toThrow();
      expect(script).not.toMatch(/innerHTML|insertAdjacentHTML|eval\(/);
    }
  });

  it('spec 10 U9: a user can be made to have left a required channel', async () => {
    const { ask, steps } = setup();
    const change = (body: unknown, headers = { 'x-sandbox-page': '1' }) =>
      ask('POST', '/sandbox/api/memberships', { body: JSON.stringify(body), headers });
    const left = { channel_id: '@news', user_id: 7, is_member: false };
    expect((await change(left)).status).toBe(200);
    expect((await change(left, {} as never)).status).toBe(403);
    for (const wrong of [null, {}, { ...left, user_id: 'x' }, { ...left, channel_id: '' }, { ...left, is_member: 1 }]) {
      expect((await change(wrong)).status).toBe(422);
    }
    expect(steps).toEqual(['member @news 7 false']);
  });

  it('has a place in the page for everything the script fills', () => {
    for (const name of ['invoices', 'mail', 'messages', 'users', 'squads']) {
      expect(PAGE_HTML).toContain(`id="${name}"`);
      expect(PAGE_HTML).toContain(`id="${name}-count"`);
    }
  });

  it('shows the state', async () => {
    const { ask } = setup();
    const reply = await ask('GET', '/sandbox/api/state');
    expect(JSON.parse(String(reply.body))).toMatchObject({
      now: '2026-03-01T10:00:00.000Z',
      mail: [{ id: 1 }],
      messages: [],
      users: [],
      squads: [{ name: 'Default', members: 2 }],
      invoices: [],
    });
  });

  it('pays, fails and refunds by id, and says when the invoice does not allow it', async () => {
    const { ask, steps } = setup();
    for (const step of ['pay', 'fail', 'refund']) {
      expect((await ask('POST', `/sandbox/api/payments/a%2Fb/${step}`)).status).toBe(200);
    }
    expect((await ask('POST', '/sandbox/api/payments/done/pay')).status).toBe(409);
    expect(steps).toEqual(['pay a/b', 'fail a/b', 'refund a/b', 'pay done']);
  });

  it('moves the clock forward only, by at most 30 days a step', async () => {
    const { ask } = setup();
    const advance = async (ms: unknown) => ask('POST', '/sandbox/api/clock', { body: JSON.stringify({ advance_ms: ms }) });
    expect(JSON.parse(String((await advance(86_400_000)).body))).toEqual({ success: true, now: '2026-03-02T10:00:00.000Z' });
    for (const bad of [0, -1, 1.5, '5', null, 30 * 86_400_000 + 1]) expect((await advance(bad)).status).toBe(422);
    expect((await ask('POST', '/sandbox/api/clock', { body: '{' })).status).toBe(422);
  });

  it('refuses requests of other pages, and unknown paths and methods', async () => {
    const { ask, steps } = setup();
    expect((await ask('POST', '/sandbox/api/payments/a/pay', { headers: {} })).status).toBe(403);
    expect((await ask('GET', '/sandbox/api/payments/a/pay')).status).toBe(405);
    expect((await ask('POST', '/sandbox')).status).toBe(405);
    expect((await ask('POST', '/sandbox/api/payments/%E0%A4%A/pay')).status).toBe(404);
    expect((await ask('GET', '/sandbox/constructor')).status).toBe(404);
    expect(steps).toEqual([]);
  });
});

describe('chats of the sandbox page', () => {
  const PHOTO = aPng(2, 2).toString('base64');
  const write = (ask: ReturnType<typeof setup>['ask'], path: string, body: unknown) =>
    ask('POST', `/sandbox/api/chats${path}`, { body: JSON.stringify(body) });

  it('lists the persons and reads a conversation', async () => {
    const { ask } = setup();
    const overview = await ask('GET', '/sandbox/api/chats');
    expect(JSON.parse(String(overview.body))).toEqual({ bot: { username: 'sandbox_bot', commands: [] }, people: [VERA] });
    expect(JSON.parse(String((await ask('GET', '/sandbox/api/chats/7')).body))).toMatchObject({ person: VERA, messages: [] });
    expect((await ask('GET', '/sandbox/api/chats/8')).status).toBe(404);
  });

  it.each([
    [
      '',
      { id: 9, first_name: 'Ann', username: 'ann', language_code: 'en' },
      'add {"id":9,"first_name":"Ann","username":"ann","language_code":"en"}',
    ],
    ['/7/messages', { text: '/start' }, 'text 7 /start'],
    ['/7/messages', { photo: PHOTO, caption: 'see' }, 'photo 7 image/png see'],
    ['/7/presses', { message_id: 3, data: 'menu_buy' }, 'press 7 3 menu_buy'],
    ['/7/payments', { link: 'known' }, 'pay 7'],
    ['/7/repeats', {}, 'repeat 7'],
  ])('POST %s %j', async (path, body, step) => {
    const { ask, steps } = setup();
    expect((await write(ask, path, body)).status).toBe(200);
    expect(steps).toEqual([step]);
  });

  it.each([
    ['', { id: 0, first_name: 'Ann' }],
    ['', { id: 9 }],
    ['', { id: 9, first_name: 'Ann', username: 'no name' }],
    ['/7/messages', {}],
    ['/7/messages', null],
    ['/7/messages', { text: 'x'.repeat(4_097) }],
    ['/7/messages', { photo: 'PGh0bWw+' }],
    ['/7/messages', { photo: PHOTO, text: 'both' }],
    ['/7/presses', { message_id: 'x', data: 'menu_buy' }],
    ['/7/payments', { link: 5 }],
  ])('refuses POST %s %j', async (path, body) => {
    const { ask, steps } = setup();
    expect((await write(ask, path, body)).status).toBe(422);
    expect(steps).toEqual([]);
  });

  it('refuses other pages, methods, persons and invoices', async () => {
    const { ask } = setup();
    const send = { body: JSON.stringify({ text: 'hello' }) };
    expect((await ask('POST', '/sandbox/api/chats/7/messages', { ...send, headers: {} })).status).toBe(403);
    expect((await ask('GET', '/sandbox/api/chats/7/messages')).status).toBe(405);
    expect((await ask('DELETE', '/sandbox/api/chats')).headers.allow).toBe('GET, POST');
    expect((await ask('POST', '/sandbox/api/chats/8/messages', send)).status).toBe(404);
    expect((await write(ask, '/7/payments', { link: 'unknown' })).status).toBe(404);
  });

  it('serves pictures as such and nothing else', async () => {
    const { ask } = setup();
    const picture = await ask('GET', '/sandbox/api/pictures/picture');
    expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/png']);
    expect((await ask('GET', '/sandbox/api/pictures/page')).status).toBe(404);
    expect((await ask('GET', '/sandbox/api/pictures/unknown')).status).toBe(404);
  });
});
