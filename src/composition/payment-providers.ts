import type { SettingsReader } from '../core/app.ts';
import type { HttpClientOptions } from '../core/http/http-client.ts';
import { createHttpClient } from '../core/http/outbound.ts';
import type { MessengerPort } from '../domain/messaging/ports.ts';
import { nextNonce } from '../domain/payments/next-nonce.ts';
import type { PaymentProvider } from '../domain/payments/ports.ts';
import { cloudpaymentsProvider } from '../integrations/payments/cloudpayments/cloudpayments-provider.ts';
import { cryptobotProvider } from '../integrations/payments/cryptobot-provider.ts';
import { freekassaProvider } from '../integrations/payments/freekassa/freekassa-provider.ts';
import { heleketProvider } from '../integrations/payments/heleket-provider.ts';
import { kassaAiProvider } from '../integrations/payments/kassa-ai-provider.ts';
import { mulenpayProvider } from '../integrations/payments/mulenpay-provider.ts';
import { pal24Provider } from '../integrations/payments/pal24-provider.ts';
import { plategaProvider } from '../integrations/payments/platega-provider.ts';
import { riopayProvider } from '../integrations/payments/riopay-provider.ts';
import { createSandboxProvider } from '../integrations/payments/sandbox-provider.ts';
import { severpayProvider } from '../integrations/payments/severpay-provider.ts';
import { createStarsProvider } from '../integrations/payments/stars-provider.ts';
import { tributeProvider } from '../integrations/payments/tribute-provider.ts';
import { wataProvider } from '../integrations/payments/wata/wata-provider.ts';
import type { FakeAccess, ProviderAccess } from '../integrations/payments/wire/provider-call.ts';
import { yookassaProvider } from '../integrations/payments/yookassa/yookassa-provider.ts';
import type { OutsideOptions } from './outside-systems.ts';
import { SANDBOX_CALLBACK_PATH } from './sandbox-store.ts';

/** Every provider that has an API of its own, by its method. One HTTP client each, so that one being down does not slow the others. */
const PROVIDERS = {
  cryptobot: cryptobotProvider,
  heleket: heleketProvider,
  mulenpay: mulenpayProvider,
  pal24: pal24Provider,
  yookassa: yookassaProvider,
  freekassa: freekassaProvider,
  kassa_ai: kassaAiProvider,
  severpay: severpayProvider,
  cloudpayments: cloudpaymentsProvider,
  tribute: tributeProvider,
  platega: plategaProvider,
  riopay: riopayProvider,
  wata: wataProvider,
} satisfies Readonly<Record<string, (access: ProviderAccess) => PaymentProvider>>;

type RemoteMethod = keyof typeof PROVIDERS;
/** The setting that switches a provider on. */
const switchOf = (method: RemoteMethod) => `${method.toUpperCase() as Uppercase<RemoteMethod>}_ENABLED` as const;

/**
 * Clients that differ from the usual one. WATA answers within 60 s, and says 429 to a second question within 30 s: it is not asked again then,
 * since somebody may be waiting (spec 03 H19).
 */
const CLIENTS: Readonly<Record<string, Partial<HttpClientOptions>>> = { wata: { totalTimeoutMs: 60_000, retries: 0 } };
const TIMEOUT_MS = 30_000;
/** Answers of providers have some kilobytes. Reading a longer one exactly, number by number, would keep the processor from everything else for seconds. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** How long one request to a provider may take. */
export function providerTimeoutMs(method: string): number {
  return CLIENTS[method]?.totalTimeoutMs ?? TIMEOUT_MS;
}

/** The path of a provider's callbacks by its setting; null for a method without one. */
export function callbackPathOf(settings: SettingsReader, method: string): string | null {
  if (!Object.hasOwn(PROVIDERS, method)) return null;
  return settings.get(`${method.toUpperCase() as Uppercase<RemoteMethod>}_WEBHOOK_PATH`);
}

/** The providers of payments, in the order of their methods. */
export function paymentProviders(options: OutsideOptions, messenger: MessengerPort): PaymentProvider[] {
  const { settings, clock, log, metrics, tracing } = options;
  const stars = createStarsProvider({
    messenger,
    connection: () => ({ enabled: settings.get('MESSENGER_STARS_ENABLED'), title: settings.get('PAYMENT_SERVICE_NAME') }),
  });
  const remote = (Object.keys(PROVIDERS) as RemoteMethod[]).map((method) =>
    PROVIDERS[method]({
      http: createHttpClient(
        { system: method, ...CLIENTS[method], totalTimeoutMs: providerTimeoutMs(method), maxResponseBytes: MAX_RESPONSE_BYTES },
        { log, metrics, tracing },
      ),
      settings,
      isOn: () => fakeAccess(options, method) !== null || settings.get(switchOf(method)),
      fake: () => fakeAccess(options, method),
      proxies: options.env.trustedProxies,
      callbackNetworks: networksOf(options, method),
      creditsWithoutApi: method === 'freekassa' && options.env.creditsFreekassaWithoutApi,
      nextNonce: (scope) => nonceOf(options, method, scope),
      now: () => clock.now(),
    }),
  );
  return [sandboxProvider(options), stars, ...remote];
}

/** The sandbox's own provider, which needs no settings. */
function sandboxProvider({ log, metrics, tracing, sandbox }: OutsideOptions): PaymentProvider {
  return createSandboxProvider({
    http: createHttpClient({ system: 'sandbox_payments', totalTimeoutMs: TIMEOUT_MS }, { log, metrics, tracing }),
    connection: () => {
      const addresses = sandbox?.isFake('payments') ? sandbox.host.addresses() : null;
      return (
        addresses && {
          baseUrl: `${addresses.paymentsUrl}/sandbox`,
          secret: sandbox!.secrets.paymentSecret,
          webhookPath: SANDBOX_CALLBACK_PATH,
        }
      );
    },
  });
}

function networksOf({ env }: OutsideOptions, method: string): readonly string[] {
  return (env.callbackNetworks as Readonly<Record<string, readonly string[] | undefined>>)[method] ?? [];
}

async function nonceOf({ db, env, clock }: OutsideOptions, method: string, scope: string): Promise<bigint> {
  if (!db) throw new Error('nonces need the database');
  const starts: Readonly<Record<string, string | undefined>> = env.nonceStarts;
  return nextNonce(db, scope, { now: clock.now(), start: starts[method] ?? '1' });
}

/** The fake of a provider, where the sandbox stands in for it (`SANDBOX_PROVIDERS`). */
function fakeAccess({ sandbox, env }: OutsideOptions, method: string): FakeAccess | null {
  if (!sandbox?.isFake('payments') || !env.sandboxProviders.includes(method)) return null;
  return { baseUrl: `${sandbox.host.addresses().paymentsUrl}/${method}`, secret: sandbox.secrets.paymentSecret };
}
