import { useEffect, useState } from 'react';
import { client, sentenceOf } from './service.ts';
import { useTexts } from './texts.ts';

/** Addresses with which other programs open the page: links of mails, providers of sign-ins, the messenger's mini-app. */

const PROVIDER_KEY = 'cabinet.oauth-provider';
const ORIGIN_KEY = 'cabinet.origin';

export type Provider = 'discord' | 'google' | 'vk' | 'yandex';

interface Origin {
  referral_code?: string;
  campaign_slug?: string;
}

/** Who invited the visitor, or which campaign he came by; sent with the sign-in, which may happen on another page. */
export function rememberOrigin(): void {
  const query = new URLSearchParams(location.search);
  const referral = query.get('ref');
  const campaign = query.get('campaign');
  if (!referral && !campaign) return;
  const origin: Origin = { ...(referral ? { referral_code: referral } : {}), ...(campaign ? { campaign_slug: campaign } : {}) };
  sessionStorage.setItem(ORIGIN_KEY, JSON.stringify(origin));
}

export function originOfVisit(): Origin {
  return JSON.parse(sessionStorage.getItem(ORIGIN_KEY) ?? '{}') as Origin;
}

/** Leaves for the provider, which returns to `/auth/oauth/callback`. @param purpose `link` adds the provider to the account */
export async function leaveForProvider(provider: Provider, purpose: 'sign-in' | 'link'): Promise<void> {
  const { oauth, accountLinking } = client.api;
  const { authorize_url } = await (purpose === 'link'
    ? accountLinking.link.init.query({ provider })
    : oauth.authorize.query({ provider }));
  sessionStorage.setItem(PROVIDER_KEY, JSON.stringify({ provider, purpose }));
  location.assign(authorize_url);
}

/** What an arrival leads to: a session, or an account that has to be merged. */
type Result = { isSession: true } | { isSession: false; mergeToken: string | null };

export interface Arrival {
  /** Identifies the attempt: what arrives can be used once, so it is sent once, however often the screen is mounted. */
  key: string;
  run: () => Promise<Result>;
}

/** @returns null at an ordinary visit */
export function arrivalOf({ pathname, search, hash }: Location): Arrival | null {
  const query = new URLSearchParams(search);
  const token = query.get('token') ?? '';
  const origin = originOfVisit();
  const { auth } = client.api;
  if (pathname === '/verify-email') {
    const { campaign_slug } = origin;
    return session(`verify ${token}`, () => auth.email.verify.mutate({ token, campaign_slug }));
  }
  if (pathname === '/auto-login') return session(`auto ${token}`, () => auth.autoLogin.mutate({ token }));
  if (pathname === '/auth/oauth/callback') return providerReturned(query, origin);
  // The messenger's login button returns what it signed as a query.
  if (pathname === '/auth/widget') {
    const text = (name: string) => query.get(name) ?? undefined;
    return session(`widget ${query.get('hash')}`, () =>
      auth.messengerWidget.mutate({
        id: Number(query.get('id')),
        first_name: query.get('first_name') ?? '',
        last_name: text('last_name'),
        username: text('username'),
        photo_url: text('photo_url'),
        auth_date: Number(query.get('auth_date')),
        hash: query.get('hash') ?? '',
        ...origin,
      }),
    );
  }
  // The messenger opens a mini-app with its signed data in the hash.
  const initData = new URLSearchParams(hash.replace(/^#/, '')).get('tgWebAppData');
  if (initData) return session(`mini-app ${initData}`, () => auth.messenger.mutate({ init_data: initData, ...origin }));
  return null;
}

type SignInAnswer = Parameters<typeof client.session.start>[0];

function session(key: string, call: () => Promise<SignInAnswer>): Arrival {
  const run = async (): Promise<Result> => {
    await client.session.start(await call());
    return { isSession: true };
  };
  return { key, run };
}

function providerReturned(query: URLSearchParams, origin: Origin): Arrival {
  const begun = JSON.parse(sessionStorage.getItem(PROVIDER_KEY) ?? '{}') as { provider?: Provider; purpose?: string };
  const code = query.get('code') ?? '';
  const state = query.get('state') ?? '';
  const input = { provider: begun.provider ?? 'google', code, state, device_id: query.get('device_id') };
  if (begun.purpose !== 'link') {
    return session(`provider ${state}`, () => client.api.oauth.callback.mutate({ ...input, ...origin }));
  }
  const run = async (): Promise<Result> => {
    const answer = await client.api.accountLinking.link.callback.mutate(input);
    return { isSession: false, mergeToken: answer.merge_required ? (answer.merge_token ?? null) : null };
  };
  return { key: `link ${state}`, run };
}

const attempts = new Map<string, Promise<Result>>();

interface ArrivalProps {
  arrival: Arrival;
  onDone: (mergeToken: string | null) => void;
  onFailed: () => void;
  /** A second factor is asked for, or something else that the caller knows how to go on with. */
  onRefused: (error: unknown) => boolean;
}

export function ArrivalScreen({ arrival, onDone, onFailed, onRefused }: ArrivalProps) {
  const texts = useTexts();
  const [error, setError] = useState<unknown>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is read once
  useEffect(() => {
    const running = attempts.get(arrival.key) ?? arrival.run();
    attempts.set(arrival.key, running);
    running.then(
      (result) => onDone(result.isSession ? null : result.mergeToken),
      (problem: unknown) => {
        if (!onRefused(problem)) setError(problem);
      },
    );
  }, []);

  return (
    <main className="narrow">
      <section className="card">
        {error === null ? (
          <p>{texts.verifying}</p>
        ) : (
          <>
            <h1>{texts.verifyFailed}</h1>
            <p className="problem" role="alert">
              {sentenceOf(error)}
            </p>
            <button type="button" className="main" onClick={onFailed}>
              {texts.toSignIn}
            </button>
          </>
        )}
      </section>
    </main>
  );
}
