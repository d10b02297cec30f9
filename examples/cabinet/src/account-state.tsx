import { createContext, type ReactNode, useContext, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { View } from './routes.ts';
import { client } from './service.ts';
import { money, useLanguage, useTexts } from './texts.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

/** What several views show, loaded once and again whenever a live event says that it has changed. */

export type SubscriptionStatus = Awaited<ReturnType<typeof client.api.subscription.get.query>>;
export type Subscription = NonNullable<SubscriptionStatus['subscription']>;

interface Notice {
  id: number;
  text: string;
}

interface AccountState {
  me: Loaded<Awaited<ReturnType<typeof client.api.auth.me.query>>>;
  balance: Loaded<Awaited<ReturnType<typeof client.api.balance.get.query>>>;
  subscription: Loaded<SubscriptionStatus>;
  /** Views that the operator has switched on, and that this user can use now. */
  views: ReadonlySet<View>;
  isLive: boolean;
  notices: readonly Notice[];
  reload: () => void;
  /** Increases when a live event concerns tickets, so that their view loads again. */
  ticketChanges: number;
}

const followLive = (onChange: () => void) => client.live.onStatus(onChange);
const isLiveNow = () => client.live.status === 'open';

const AccountContext = createContext<AccountState | null>(null);

/** @throws Error outside of `AccountProvider` */
export function useAccount(): AccountState {
  const account = useContext(AccountContext);
  if (account === null) throw new Error('useAccount needs an AccountProvider');
  return account;
}

/** One request: calls of one tick are sent together. */
async function loadFeatures() {
  const { branding, fortuneWheel, polls, referral, info, personalData } = client.api;
  const [gifts, wheel, pollList, terms, support, data] = await Promise.all([
    branding.giftEnabled.query(),
    fortuneWheel.config.query(),
    polls.list.query(),
    referral.terms.query(),
    info.supportConfig.query(),
    personalData.read.query(),
  ]);
  return {
    gifts: gifts.enabled,
    wheel: wheel.is_enabled,
    polls: pollList.length > 0,
    referral: terms.is_enabled,
    tickets: support.tickets_enabled,
    'my-data': data.self_service !== 'off',
  };
}

function viewsOf(features: Awaited<ReturnType<typeof loadFeatures>> | null, status: SubscriptionStatus | null): Set<View> {
  const views = new Set<View>(['overview', 'tariffs', 'balance', 'notifications', 'account']);
  if (status?.subscription) for (const view of ['renewal', 'devices', 'traffic'] as const) views.add(view);
  // The service refuses the contests of everybody else, and the servers of a trial.
  if (status?.subscription?.is_active) views.add('contests');
  if (status?.subscription?.is_active && !status.subscription.is_trial) views.add('servers');
  for (const [view, isOn] of Object.entries(features ?? {})) if (isOn) views.add(view as View);
  return views;
}

const MAX_NOTICES = 3;

export function AccountProvider({ children }: { children: ReactNode }) {
  const texts = useTexts();
  const language = useLanguage();
  const me = useLoaded(() => client.api.auth.me.query());
  const balance = useLoaded(() => client.api.balance.get.query());
  const subscription = useLoaded(() => client.api.subscription.get.query());
  const features = useLoaded(loadFeatures);
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const isLive = useSyncExternalStore(followLive, isLiveNow);
  const [ticketChanges, setTicketChanges] = useState(0);
  const { reload: reloadBalance } = balance;
  const { reload: reloadSubscription } = subscription;
  const { reload: reloadFeatures } = features;

  const reload = useMemo(
    () => () => {
      reloadBalance();
      reloadSubscription();
      reloadFeatures();
    },
    [reloadBalance, reloadSubscription, reloadFeatures],
  );

  useEffect(() => {
    const show = (text: string) =>
      setNotices((before) => [...before.slice(1 - MAX_NOTICES), { id: Date.now() + Math.random(), text }]);
    const stops = [
      client.live.onEvent('balance.topup', (event) => {
        show(`${texts.noticeTopup} +${money(event.amount_kopeks, language)}`);
        reload();
      }),
      client.live.onEvent('balance.change', reload),
      client.live.onEvent('subscription.activated', (event) => {
        show(`${texts.noticeActivated} ${event.tariff_name}`);
        reload();
      }),
      client.live.onEvent('subscription.renewed', () => {
        show(texts.noticeRenewed);
        reload();
      }),
      client.live.onEvent('subscription.devices_purchased', reload),
      client.live.onEvent('subscription.traffic_purchased', reload),
      client.live.onEvent('subscription.expired', reload),
      client.live.onEvent('ticket.admin_reply', () => {
        show(texts.noticeReply);
        setTicketChanges((count) => count + 1);
      }),
      // Events may have been missed, so everything is loaded again.
      client.live.onGap(reload),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [texts, language, reload]);

  // The link exists when the panel has the user, shortly after the purchase.
  const current = subscription.value?.subscription;
  const isLinkComing = Boolean(current?.is_active && !current.subscription_url && !current.hide_subscription_link);
  useEffect(() => {
    if (!isLinkComing) return;
    const timer = setInterval(reloadSubscription, 1_500);
    return () => clearInterval(timer);
  }, [isLinkComing, reloadSubscription]);

  const views = viewsOf(features.value, subscription.value);
  return (
    <AccountContext value={{ me, balance, subscription, views, isLive, notices, reload, ticketChanges }}>
      {children}
    </AccountContext>
  );
}
