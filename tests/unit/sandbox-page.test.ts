import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { handleSandboxRequest, type SandboxRequest } from '../../packages/sandbox/src/page/handle-sandbox-request.ts';
import { PAGE_HTML, PAGE_SCRIPT } from '../../packages/sandbox/src/page/sandbox-page.ts';
import type { SandboxView } from '../../packages/sandbox/src/page/sandbox-view.ts';

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
    for (const path of ['/sandbox', '/sandbox/', '/sandbox/page.css', '/sandbox/page.js']) {
      const reply = await ask('GET', path);
      expect(reply.status, path).toBe(200);
      expect(reply.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      expect(reply.headers['content-security-policy']).not.toContain('unsafe');
    }
    expect(PAGE_HTML).not.toMatch(/<script>|style=|onclick=|https?:/);
    expect(() => new Script(PAGE_SCRIPT)).not.toThrow();
    expect(PAGE_SCRIPT).not.toMatch(/innerHTML|insertAdjacentHTML|eval\(/);
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
    expect(JSON.parse(reply.body)).toMatchObject({
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
    expect(JSON.parse((await advance(86_400_000)).body)).toEqual({ success: true, now: '2026-03-02T10:00:00.000Z' });
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
