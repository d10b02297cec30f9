import nodemailer from 'nodemailer';
import type { Ports, SettingsReader } from '../../core/app.ts';
import { addDays, systemClock } from '../../core/clock.ts';
import type { Env } from '../../core/env.ts';
import { openTunnel, ProxyError } from '../../core/http/proxy-tunnel.ts';
import { COMMAND_LINE } from '../../core/process-env.ts';
import { MessengerError } from '../../domain/messaging/ports.ts';
import { smtpTlsOptions } from '../../domain/messaging/smtp-tls.ts';
import { methodDefaults } from '../../domain/payments/payment-methods.ts';
import { isPanelError } from '../../domain/provisioning/ports.ts';
import { bareAddress, messengerWebhookOf } from '../messenger-command.ts';
import { type Finding, ok, problem, type SaleFacts, warning } from './finding.ts';

export interface OutsideFacts {
  env: Env;
  settings: SettingsReader;
  ports: Pick<Ports, 'panel' | 'messenger' | 'payments'>;
  /** Kinds of systems that are fakes now. */
  fakes: readonly string[];
  /** Null = it could not be read. */
  sales: SaleFacts | null;
  /** The data come from another product, whose bot may still run. */
  isImported: boolean;
}

type MessengerFacts = Omit<OutsideFacts, 'ports' | 'isImported'> & { ports: Pick<Ports, 'messenger'> };

const PROXY_TIMEOUT_MS = 10_000;
const SMTP_TIMEOUT_MS = 10_000;

/** Checks the panel, the messenger and the mail server at the same time, each within its own time-out. */
export async function checkOutside(facts: OutsideFacts): Promise<Finding[]> {
  const [panel, messenger, webhook, mail] = await Promise.all([
    checkRealPanel(facts),
    checkMessenger(facts),
    checkMessengerWebhook(facts),
    checkMail(facts),
  ]);
  const credentials = facts.fakes.includes('payments') ? [] : checkCredentials(facts.ports, systemClock.now());
  return [...panel, messenger, ...webhook, checkPayments(facts), ...credentials, mail];
}

async function checkRealPanel(facts: OutsideFacts): Promise<Finding[]> {
  const isFake = facts.fakes.includes('vpnpanel');
  return isFake ? [ok('panel', 'sandbox: fake', 'Real one: VPNPANEL_API_URL and VPNPANEL_API_KEY.')] : checkPanel(facts);
}

/** Asks the messenger who the bot is, through `PROXY_URL` where it is set. */
export async function checkMessenger({ env, settings, ports, fakes }: MessengerFacts): Promise<Finding> {
  const { messenger } = ports;
  if (fakes.includes('messenger')) return ok('messenger', 'sandbox: fake', 'Real one: BOT_TOKEN.');
  if (!messenger.isConfigured()) {
    return warning(
      'messenger',
      'BOT_TOKEN is not set',
      'Set BOT_TOKEN to sign people in and to write to them through the messenger.',
    );
  }
  try {
    const { username } = await messenger.getMe();
    if (settings.get('WEBHOOK_URL') && !settings.get('WEBHOOK_SECRET_TOKEN')) {
      const next = 'Set WEBHOOK_SECRET_TOKEN to a long random text; without it the messenger webhook stays closed.';
      return problem('messenger', `@${username} answers, but its webhook has no secret`, next);
    }
    const named = settings.get('BOT_USERNAME');
    if (named && named.replace(/^@/, '').toLowerCase() !== username.toLowerCase()) {
      return warning(
        'messenger',
        `the token belongs to @${username}, BOT_USERNAME says ${named}`,
        'Correct BOT_USERNAME; links to the bot are made from it.',
      );
    }
    return ok('messenger', `@${username} answers${settings.get('PROXY_URL') ? ' through PROXY_URL' : ''}`);
  } catch (error) {
    const failure = error instanceof MessengerError ? error.failure : null;
    const proxyFault = await faultOfProxy(settings.get('PROXY_URL'), messenger);
    if (proxyFault !== null) {
      const proxyNext = 'Look whether the proxy of PROXY_URL runs, reaches the messenger, and accepts the credentials.';
      return env.isProduction ? problem('messenger', proxyFault, proxyNext) : warning('messenger', proxyFault, proxyNext);
    }
    const isTokenRefused = failure?.kind === 'unavailable' && failure.isTokenRefused === true;
    const next =
      failure === null || failure.kind === 'rate_limited' || (failure.kind === 'unavailable' && !isTokenRefused)
        ? 'Look whether this machine reaches the messenger, and try again.'
        : 'The messenger refuses the token: copy BOT_TOKEN anew from the bot that makes bots.';
    const fault = error instanceof Error ? error.message : 'does not answer';
    return env.isProduction ? problem('messenger', fault, next) : warning('messenger', fault, next);
  }
}

/**
 * Whether the messenger sends updates to this service, and after an import not to the bot that it replaces: payments in Stars would go there (spec
 * 07, hazard I39). A messenger that does not answer is what `checkMessenger` finds.
 */
export async function checkMessengerWebhook(facts: MessengerFacts & Pick<OutsideFacts, 'isImported'>): Promise<Finding[]> {
  const { settings, ports, fakes, isImported } = facts;
  if (fakes.includes('messenger') || !ports.messenger.isConfigured()) return [];
  const wanted = messengerWebhookOf(settings);
  if (wanted === null && !isImported) return [];
  let registered: string | null;
  try {
    registered = await ports.messenger.readWebhook();
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    return [];
  }
  const check = 'messenger webhook';
  if (wanted === null) {
    const next = 'Set WEBHOOK_URL to the address of this service; without it the messenger sends nothing here.';
    return [warning(check, 'WEBHOOK_URL is not set', next)];
  }
  if (registered !== null && bareAddress(registered) === wanted) return [ok(check, 'leads to this service')];
  const detail = registered === null ? 'none is registered' : `leads to ${hostOf(registered)}, not to WEBHOOK_URL`;
  const next = `Stop every other program with this bot, and register ${wanted}: ${COMMAND_LINE} messenger set-webhook`;
  return [warning(check, detail, next)];
}

/** Without the path, which may hold a secret of the old bot. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'another address');

/**
 * What is wrong with the proxy itself; null = nothing, or there is none. Names neither its address nor its credentials.
 * It is asked to connect to the host of the messenger's links.
 */
async function faultOfProxy(proxyUrl: string | null, messenger: Ports['messenger']): Promise<string | null> {
  if (!proxyUrl) return null;
  const host = new URL(messenger.linkTo('bot')).hostname;
  try {
    const tunnel = await openTunnel(proxyUrl, { host, port: 443 }, PROXY_TIMEOUT_MS);
    tunnel.destroy();
    return null;
  } catch (error) {
    if (!(error instanceof ProxyError)) throw error;
    return `PROXY_URL: ${error.message}`;
  }
}

function checkPayments({ ports, fakes }: OutsideFacts): Finding {
  if (fakes.includes('payments'))
    return ok('payments', 'sandbox: fake provider', 'Real one: YOOKASSA_ENABLED, YOOKASSA_SHOP_ID, YOOKASSA_SECRET_KEY.');
  const ready = ports.payments
    .all()
    .filter((provider) => provider.isConfigured())
    .map((provider) => provider.method);
  const unconfirmed = ready.filter((method) => methodDefaults(method)?.isUnconfirmed);
  if (unconfirmed.length > 0) {
    return warning(
      'payments',
      `${ready.join(', ')}; unconfirmed by public documents: ${unconfirmed.join(', ')}`,
      'Make one real payment of the smallest amount by each unconfirmed provider before you offer it.',
    );
  }
  if (ready.length > 0) return ok('payments', ready.join(', '));
  return warning(
    'payments',
    'no payment provider is configured',
    'For example YOOKASSA_ENABLED=true with YOOKASSA_SHOP_ID and YOOKASSA_SECRET_KEY.',
  );
}

async function checkMail({ env, settings, fakes }: OutsideFacts): Promise<Finding> {
  if (fakes.includes('mail')) return ok('mail', 'sandbox: fake mail box', 'Real one: SMTP_HOST and SMTP_FROM_EMAIL.');
  const [host, port, user, password] = [
    settings.get('SMTP_HOST'),
    settings.get('SMTP_PORT'),
    settings.get('SMTP_USER'),
    settings.get('SMTP_PASSWORD'),
  ];
  if (!host || !(settings.get('SMTP_FROM_EMAIL') || user)) {
    return warning(
      'mail',
      'SMTP_HOST or SMTP_FROM_EMAIL is not set',
      'Set them to let people sign up and recover passwords by e-mail.',
    );
  }
  // The same TLS requirements as for sending mail (spec 05 section 11.1).
  const transport = nodemailer.createTransport({
    host,
    port,
    ...smtpTlsOptions({ port, useTls: settings.get('SMTP_USE_TLS'), tls: env.smtpTls }),
    ...(user && password ? { auth: { user, pass: password } } : {}),
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
  });
  try {
    await transport.verify();
    return ok('mail', `${host}:${port} answers${user && password ? ' and lets us in' : ''}`);
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    const next =
      code === 'EAUTH'
        ? 'The server refuses the sign-in: look at SMTP_USER and SMTP_PASSWORD.'
        : 'Look at SMTP_HOST, SMTP_PORT and SMTP_USE_TLS: 465 is TLS at once, 587 begins in clear and must offer STARTTLS.';
    return problem('mail', `${host}:${port} cannot be used (${code || 'no answer'})`, next);
  } finally {
    transport.close();
  }
}

/** How long before the end of a credential doctor warns (03a section 9). */
const WARN_DAYS = 14;

/** The credentials of payment providers that end at a known time: afterwards the provider refuses every call. */
export function checkCredentials({ payments }: Pick<Ports, 'payments'>, now: Date): Finding[] {
  return payments.all().flatMap((provider) => {
    const expiresAt = provider.isConfigured() ? (provider.credentialsExpireAt?.() ?? null) : null;
    return expiresAt === null ? [] : [findingOf(provider.method, expiresAt, now)];
  });
}

function findingOf(method: string, expiresAt: Date, now: Date): Finding {
  const check = `token of ${method}`;
  const until = expiresAt.toISOString();
  const next = 'Issue a new token in the account at the provider and set it; payments cannot be started after that time.';
  if (expiresAt <= now) return problem(check, `ended at ${until}`, next);
  return expiresAt <= addDays(now, WARN_DAYS) ? warning(check, `ends at ${until}`, next) : ok(check, `valid until ${until}`);
}

/** Major versions of the panel that the adapter was measured with. */
const KNOWN_MAJORS: readonly number[] = [2, 3];

interface PanelFacts {
  ports: Pick<Ports, 'panel'>;
  /** Null = it could not be read. */
  sales: SaleFacts | null;
}

/** Whether the panel answers, is of a known version, and has what is sold. */
export async function checkPanel({ ports: { panel }, sales }: PanelFacts): Promise<Finding[]> {
  const missing = panel.configurationError();
  if (missing !== null)
    return [problem('panel', missing, 'Set VPNPANEL_API_URL and VPNPANEL_API_KEY; without a panel nothing can be sold.')];
  try {
    await panel.ping();
    const squads = await panel.listInternalSquads();
    const found =
      squads.length === 0 ? noSquads() : ok('panel', `answers; ${squads.length} squad${squads.length === 1 ? '' : 's'}`);
    const version = versionFinding(await panel.readVersion());
    if (sales === null) return [found, version];
    return [found, version, ...unusedSquads(squads, sales), ...(await staleExternalSquads(panel, sales))];
  } catch (error) {
    return [failure(error)];
  }
}

const noSquads = () =>
  warning('panel', 'answers, but has no squads', 'Make an internal squad in the panel: tariffs open squads.');

function failure(error: unknown): Finding {
  const status = isPanelError(error) ? error.status : null;
  const detail = error instanceof Error ? error.message : 'does not answer';
  if (status === 401 || status === 403)
    return problem('panel', detail, 'The panel refuses the key: make a new API token in the panel and set VPNPANEL_API_KEY.');
  const next = 'Look at VPNPANEL_API_URL (the address of the panel itself, with https) and whether this machine reaches it.';
  return problem('panel', detail, next);
}

function versionFinding(version: string | null): Finding {
  const known = `known are ${KNOWN_MAJORS.map((major) => `${major}.x`).join(' and ')}`;
  const next = 'Look whether synchronisation and purchases work, and for a newer release of this service.';
  if (version === null) return warning('panel version', `the panel does not tell its version; ${known}`, next);
  const isKnown = KNOWN_MAJORS.includes(Number.parseInt(version.replace(/^v/i, ''), 10));
  return isKnown ? ok('panel version', version) : warning('panel version', `${version} is not known; ${known}`, next);
}

/** Squads of the panel that no purchase and no trial gives to anybody. */
function unusedSquads(squads: readonly { uuid: string; name: string }[], { usableSquads }: SaleFacts): Finding[] {
  const unused = squads.filter(({ uuid }) => !usableSquads.includes(uuid));
  if (squads.length === 0) return [];
  if (unused.length === 0) return [ok('panel squads', 'each can be bought or tried')];
  const next = 'POST /servers/sync makes servers of them; put the servers on sale or name them in a tariff.';
  return [warning('panel squads', `nobody can use: ${unused.map(({ name }) => name).join(', ')}`, next)];
}

/** External squads that tariffs name and the panel does not have (08 P3). */
async function staleExternalSquads(panel: Ports['panel'], { externalSquads }: SaleFacts): Promise<Finding[]> {
  if (externalSquads.length === 0) return [];
  const known = new Set((await panel.listExternalSquads()).map((squad) => squad.uuid));
  const stale = externalSquads.filter(({ uuid }) => !known.has(uuid));
  if (stale.length === 0) return [ok('external squads', 'the panel has those of all tariffs')];
  const names = stale.map(({ tariff, uuid }) => `${tariff} (${uuid})`).join(', ');
  return [
    warning(
      'external squads',
      `the panel does not have those of: ${names}`,
      'Choose another external squad in these tariffs, or none.',
    ),
  ];
}
