import type { SandboxView } from '@subscription-service/sandbox/page/sandbox-view';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Sandbox } from './sandbox.ts';
import type { SandboxServers } from './sandbox-host.ts';

const PAGE_SIZE = 100;
/** A photo that a person sends, as Base64. */
const BODY_LIMIT = 16 * 1024 * 1024;
const STARTING = { ok: false, error_code: 503, description: 'The sandbox is starting' };
const BOT_API = '/sandbox/bot-api';

/** Serves `/sandbox` on the instance that hosts the fakes; the others redirect the browser to it. */
export function registerSandboxPage(server: FastifyInstance, sandbox: Sandbox): void {
  server.register(async (scope) => {
    const { handleSandboxRequest } = await import('@subscription-service/sandbox/page/handle-sandbox-request');
    scope.removeContentTypeParser(['application/json', 'text/plain']);
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    registerBotApi(scope, sandbox);
    for (const url of ['/sandbox', '/sandbox/*']) {
      scope.all(url, { bodyLimit: BODY_LIMIT }, async (request, reply) => {
        const servers = sandbox.host.servers();
        if (!servers) {
          const host = sandbox.host.addresses().serviceUrl;
          if (!host) return reply.code(503).send({ detail: 'The sandbox is starting' });
          return reply.redirect(`${host}${request.url}`, 307);
        }
        const answer = await handleSandboxRequest(viewOf(sandbox, servers), {
          method: request.method,
          path: request.url.split('?', 1)[0]!,
          headers: request.headers as Record<string, string | undefined>,
          body: bytesOf(request).toString('utf8'),
        });
        return reply
          .code(answer.status)
          .headers({ ...answer.headers })
          .send(answer.body);
      });
    }
  });
}

/**
 * The fake Bot API at an address that stays: its port changes with every start, and a bot is a process of its own. A bot has to
 * name its token, as with the real messenger.
 */
function registerBotApi(scope: FastifyInstance, sandbox: Sandbox): void {
  // A waiting getUpdates would delay the end of the process.
  scope.addHook('preClose', async () => sandbox.host.servers()?.messenger.endPoll());
  scope.all(`${BOT_API}/*`, { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const messenger = sandbox.host.servers()?.messenger;
    const host = sandbox.host.addresses().serviceUrl;
    if (!messenger) return host ? reply.redirect(`${host}${request.url}`, 307) : reply.code(503).send(STARTING);
    const url = new URL(request.url, 'http://localhost');
    const rawBody = bytesOf(request);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value ?? '')]));
    const answer = await messenger.handle({
      method: request.method,
      path: url.pathname.slice(BOT_API.length),
      query: url.searchParams,
      headers,
      body: rawBody.toString('utf8'),
      rawBody,
    });
    return reply
      .code(answer.status)
      .headers(answer.headers ?? {})
      .type(answer.contentType)
      .send(answer.body);
  });
}

function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function viewOf(sandbox: Sandbox, servers: SandboxServers): SandboxView {
  const { mail, messenger, panel, payments } = servers;
  const act = (action: 'pay' | 'fail' | 'refund') => async (id: string) => (await payments.act(id, action)) !== null;
  return {
    mail: { list: async () => (await mail.list()).slice(0, PAGE_SIZE) },
    messenger: {
      list: async () => (await messenger.messages()).slice(0, PAGE_SIZE),
      setMember: async (channelId, userId, isMember) => {
        const status = isMember ? 'member' : 'left';
        await messenger.setMembership(channelId, userId, status);
        const user = { id: userId, is_bot: false, first_name: 'Sandbox' };
        // As the messenger reports it; without the report the service would find out minutes later.
        await messenger.postUpdate({
          chat_member: { chat: { id: Number(channelId) }, from: user, new_chat_member: { status, user } },
        });
      },
    },
    chats: messenger.conversations,
    panel: {
      users: async () => panel.listUsers(PAGE_SIZE).map((user) => ({ ...user, expireAt: textOf(user.expireAt) })),
      squads: async () =>
        panel.listSquads().map((squad) => ({ uuid: squad.uuid, name: squad.name, members: squad.membersCount })),
    },
    payments: {
      list: async () =>
        (await payments.list()).slice(0, PAGE_SIZE).map((invoice) => ({
          id: invoice.id,
          method: invoice.wire,
          status: invoice.status,
          amountKopeks: invoice.amountKopeks,
          description: invoice.description,
          payUrl: invoice.payUrl,
          createdAt: invoice.createdAt,
        })),
      pay: act('pay'),
      fail: act('fail'),
      refund: act('refund'),
      setDelivery: (delivery) => void Object.assign(payments.knobs, delivery),
      flush: () => payments.flush(),
    },
    clock: { now: () => sandbox.clock.now(), advance: (ms) => sandbox.clock.advance(ms) },
  };
}

function textOf(timestamp: Date | string | null): string | null {
  return timestamp instanceof Date ? timestamp.toISOString() : timestamp;
}
