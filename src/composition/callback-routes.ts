import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../core/app.ts';
import { receiveBanNoticeUpdate } from '../domain/ban-system/ban-notices.ts';
import { receivePollUpdate } from '../domain/engagement/polls/polls.ts';
import { wheelStars } from '../domain/engagement/wheel/stars-spin.ts';
import { receiveBotUpdate } from '../domain/identity/deeplink-sign-in.ts';
import { isPanelWebhookOn, receivePanelWebhook } from '../domain/panel-events/receive-event.ts';
import { receiveStarsUpdate } from '../domain/payments/credit-stars.ts';
import { isMethodConfigured, METHODS } from '../domain/payments/payment-methods.ts';
import type { CallbackReply, ProviderCallback } from '../domain/payments/ports.ts';
import { CALLBACK_BYTES, receiveProviderCallback } from '../domain/payments/receive-callback.ts';
import { receiveChatStart } from '../domain/pinned-messages/deliver.ts';
import { receiveOfferUpdate } from '../domain/promo/offers/claim-offer.ts';
import { receiveChannelUpdate } from '../domain/safety/channel-gate.ts';
import { barePath } from '../domain/settings/change-setting.ts';
import type { SettingKey } from '../domain/settings/types.ts';
import { receiveGiftStart } from '../domain/storefront/gifts/activate-gift.ts';
import { giftStars } from '../domain/storefront/gifts/gift-stars.ts';
import { receiveGiftUpdate } from '../domain/storefront/purchases/activate-purchase.ts';
import { addressOf } from '../rest/request-context.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Read by the CORS plugin: false leaves a route to itself. */
    cors?: false;
    /** Route of callbacks: the setting that may give them another path, null = reached by such a path only. */
    callbackOf?: SettingKey | null;
  }
}

/** Internal paths of callbacks. Clients cannot request them; only a provider's own path is rewritten to them. */
const INTERNAL_PREFIX = '/~callbacks/';
const PANEL_ROUTE = `${INTERNAL_PREFIX}vpnpanel-events`;
const NOWHERE = '/~nowhere';
const MESSENGER_ROUTE = '/messenger-webhook';
/** Largest update of the messenger or event of the panel in bytes. */
const BODY_LIMIT = 1024 * 1024;

type Headers = Record<string, string | undefined>;

/**
 * Finds the internal URL of a callback by the path that a provider or the messenger calls. Paths are settings and are read on each
 * call, so that a route exists as soon as its provider is configured, without a restart (spec 00, Outside effects). An operation at the
 * same path takes precedence: a setting must not hide an operation, wherever the setting comes from (spec 06 section 17, hazard 13).
 */
export function callbackRoute(app: App): (path: string) => string | null {
  return (path) => {
    if (path.startsWith(INTERNAL_PREFIX)) return NOWHERE;
    const bare = barePath(path);
    const inside = insideOf(app, bare);
    return inside === null || app.ports.routes.isTaken(bare) ? null : inside;
  };
}

function insideOf(app: App, bare: string): string | null {
  for (const provider of app.ports.payments.all()) {
    const path = provider.webhookPath();
    if (path === null) continue;
    const base = barePath(path);
    if (base === bare) return `${INTERNAL_PREFIX}${provider.method}`;
    const subpath = provider.callbackSubpaths?.find((name) => `${base}/${name}` === bare);
    if (subpath !== undefined) return `${INTERNAL_PREFIX}${provider.method}/${subpath}`;
  }
  if (bare === '/') return null;
  if (isPanelWebhookOn(app) && bare === barePath(app.settings.get('VPNPANEL_WEBHOOK_PATH'))) return PANEL_ROUTE;
  return bare === barePath(app.settings.get('WEBHOOK_PATH')) ? MESSENGER_ROUTE : null;
}

/**
 * Routes that outside systems call, one registration each. Bodies reach the adapters as the bytes received: signatures are made over these
 * (spec 03 H17).
 * @param onRefused called after a callback that was answered 5xx
 */
export async function registerCallbackRoutes(server: FastifyInstance, app: App, onRefused?: () => void): Promise<void> {
  server.get('/health/payment-webhooks', () => describeCallbacks(app));
  server.get('/health/unified', () => describeEntrances(app));
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.addHook('onResponse', (_request, reply, done) => {
      if (reply.statusCode >= 500) onRefused?.();
      done();
    });
    await scope.register(paymentCallbacks, { app });
    await scope.register(panelEvents, { app });
    await scope.register(messengerUpdates, { app });
  });
}

type CallbackPlugin = FastifyPluginAsync<{ app: App }>;

// Providers' OPTIONS are answered by their adapters (spec 03 section 2.6), not by the pages' CORS rules.
const INTERNAL = { cors: false, callbackOf: null } as const;

const paymentCallbacks: CallbackPlugin = async (scope, { app }) => {
  // Reading stops at the limit, with or without Content-Length (03a section 0.8).
  const options = { bodyLimit: CALLBACK_BYTES, config: INTERNAL };
  for (const path of [`${INTERNAL_PREFIX}:method`, `${INTERNAL_PREFIX}:method/:subpath`]) {
    scope.all<{ Params: { method: string; subpath?: string } }>(path, options, async (request, reply) => {
      const { method, subpath = '' } = request.params;
      const clientIp = addressOf(request.raw, app.env.trustedProxies);
      const callback = { ...callbackOf(request), subpath, ...(clientIp === null ? {} : { clientIp }) };
      const answer = await receiveProviderCallback(app, method, callback);
      return answer ? sendReply(reply, answer) : reply.code(404).send({ detail: 'Not Found' });
    });
  }
};

const panelEvents: CallbackPlugin = async (scope, { app }) => {
  const options = { bodyLimit: BODY_LIMIT, config: INTERNAL };
  scope.get(PANEL_ROUTE, options, () => ({ status: 'ok', service: 'vpnpanel_webhook', enabled: true }));
  scope.post(PANEL_ROUTE, options, async (request, reply) => {
    const { status, headers, body } = await receivePanelWebhook(app, callbackOf(request));
    return reply
      .code(status)
      .headers(headers ?? {})
      .send(body);
  });
};

const messengerUpdates: CallbackPlugin = async (scope, { app }) => {
  const options = { bodyLimit: BODY_LIMIT, config: { callbackOf: 'WEBHOOK_PATH' } } as const;
  scope.post(MESSENGER_ROUTE, options, async (request, reply) => {
    const { headers, rawBody } = callbackOf(request);
    const verdict = app.ports.messenger.receiveUpdate({ headers, rawBody });
    // Updates are money too (03a section 0.8).
    if (verdict.accepted && !/^\s*application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
      return reply.code(415).send({ status: 'error', reason: 'unsupported_content_type' });
    }
    if (verdict.accepted) {
      // Each module ignores updates that are not for it. At most one of them acts, except that a followed link of a gift is a chat start too.
      await receiveStarsUpdate(app, verdict.update, rawBody.toString('utf8'), [wheelStars, giftStars]);
      for (const receive of UPDATE_RECEIVERS) await receive(app, verdict.update);
    }
    return sendReply(reply, { ...verdict.reply, contentType: 'application/json' });
  });
};

const UPDATE_RECEIVERS = [
  receiveBotUpdate,
  receivePollUpdate,
  receiveOfferUpdate,
  receiveGiftUpdate,
  receiveGiftStart,
  receiveChatStart,
  receiveChannelUpdate,
  receiveBanNoticeUpdate,
];

function sendReply(reply: FastifyReply, answer: CallbackReply): FastifyReply {
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .header('content-type', answer.contentType)
    .send(answer.body);
}

function callbackOf(request: FastifyRequest): Omit<ProviderCallback, 'subpath'> {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  // The rewritten URL has no query; the original one has.
  const query = Object.fromEntries(new URLSearchParams(request.originalUrl.split('?').slice(1).join('?')));
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { method: request.method, headers, rawBody, query, ip: request.socket.remoteAddress ?? '' };
}

/** Which entrances for outside systems are open. Without their addresses, because nobody has to sign in to read it. */
function describeEntrances(app: App) {
  const providers = Object.fromEntries(
    METHODS.filter((method) => method.hasCallbacks).map((method) => [method.id, isMethodConfigured(app, method)]),
  );
  const { settings } = app;
  const isMessengerOn = Boolean(settings.get('WEBHOOK_URL'));
  return {
    status: 'ok',
    bot_run_mode: settings.get('BOT_RUN_MODE'),
    web_api_enabled: settings.get('WEB_API_ENABLED'),
    payment_webhooks: { enabled: Object.values(providers).includes(true), providers },
    messenger_webhook: {
      enabled: isMessengerOn,
      running: isMessengerOn,
      secret_configured: Boolean(settings.get('WEBHOOK_SECRET_TOKEN')),
    },
    vpnpanel_webhook: { enabled: isPanelWebhookOn(app) },
    // Pages are served by other systems.
    miniapp_static: { mounted: false },
  };
}

/** Which providers accept callbacks now. */
function describeCallbacks(app: App): Record<string, string | boolean> {
  const flags = METHODS.filter((method) => method.hasCallbacks).map((method) => [
    `${method.id}_enabled`,
    isMethodConfigured(app, method),
  ]);
  return { status: 'ok', ...Object.fromEntries(flags) };
}
