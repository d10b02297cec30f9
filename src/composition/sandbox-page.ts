import type { SandboxView } from '@subscription-service/sandbox/page/sandbox-view';
import type { FastifyInstance } from 'fastify';
import type { Sandbox } from './sandbox.ts';
import type { SandboxServers } from './sandbox-host.ts';

const PAGE_SIZE = 100;

/** Serves `/sandbox` on the instance that hosts the fakes; the others redirect the browser to it. */
export function registerSandboxPage(server: FastifyInstance, sandbox: Sandbox): void {
  server.register(async (scope) => {
    const { handleSandboxRequest } = await import('@subscription-service/sandbox/page/handle-sandbox-request');
    scope.removeContentTypeParser(['application/json', 'text/plain']);
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
    for (const url of ['/sandbox', '/sandbox/*']) {
      scope.all(url, async (request, reply) => {
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
          body: typeof request.body === 'string' ? request.body : '',
        });
        return reply
          .code(answer.status)
          .headers({ ...answer.headers })
          .send(answer.body);
      });
    }
  });
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
