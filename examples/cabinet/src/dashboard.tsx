import { useEffect, useState } from 'react';
import { BalanceCard } from './balance-card.tsx';
import { SecondFactorCard } from './second-factor.tsx';
import { client } from './service.ts';
import { SubscriptionCard } from './subscription-card.tsx';
import { TariffList } from './tariff-list.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

/** Balance, subscription and tariffs: the calls are sent in one request, and live events update them. */
export function Dashboard({ onSignOut }: { onSignOut: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const me = useLoaded(() => client.api.auth.me.query());
  const balance = useLoaded(() => client.api.balance.get.query());
  const subscription = useLoaded(() => client.api.subscription.get.query());
  const options = useLoaded(() => client.api.subscription.purchaseOptions.query());
  const [news, setNews] = useState<{ id: number; text: string }[]>([]);
  const [isLive, setIsLive] = useState(client.live.status === 'open');
  const { reload: reloadBalance } = balance;
  const { reload: reloadSubscription } = subscription;
  const { reload: reloadOptions } = options;

  useEffect(() => {
    const showNotice = (text: string) => setNews((before) => [...before.slice(-2), { id: Date.now() + Math.random(), text }]);
    const reloadAll = () => {
      reloadBalance();
      reloadSubscription();
      reloadOptions();
    };
    const stops = [
      client.live.onEvent('balance.topup', (event) => {
        showNotice(`${texts.noticeTopup} +${money(event.amount_kopeks, language)}`);
        reloadAll();
      }),
      client.live.onEvent('subscription.activated', (event) => {
        showNotice(`${texts.noticeActivated} ${event.tariff_name}`);
        reloadAll();
      }),
      client.live.onEvent('subscription.renewed', () => {
        showNotice(texts.noticeRenewed);
        reloadAll();
      }),
      client.live.onStatus((status) => setIsLive(status === 'open')),
      // Events may have been missed, so everything is loaded again.
      client.live.onGap(reloadAll),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [texts, language, reloadBalance, reloadSubscription, reloadOptions]);

  // The link exists when the panel has the user, shortly after the purchase.
  const current = subscription.value?.subscription;
  const isLinkComing = Boolean(current?.is_active && !current.subscription_url && !current.hide_subscription_link);
  useEffect(() => {
    if (!isLinkComing) return;
    const timer = setInterval(reloadSubscription, 1_500);
    return () => clearInterval(timer);
  }, [isLinkComing, reloadSubscription]);

  async function signOut() {
    client.live.close();
    await client.session.signOut();
    onSignOut();
  }

  return (
    <main className="wide">
      <header className="bar">
        <div>
          <h1>{texts.title}</h1>
          <p className="soft">
            {me.value?.email ?? me.value?.username ?? ''}{' '}
            <span className={isLive ? 'live' : 'live away'} data-testid="live">
              {isLive ? texts.live : texts.offline}
            </span>
          </p>
        </div>
        <button type="button" className="plain" onClick={signOut}>
          {texts.signOut}
        </button>
      </header>
      <div className="news" aria-live="polite" data-testid="news">
        {news.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
      <div className="columns">
        <BalanceCard balanceKopeks={balance.value?.balance_kopeks ?? null} error={balance.error} />
        <SubscriptionCard status={subscription.value} error={subscription.error} />
      </div>
      <SecondFactorCard />
      <TariffList answer={options.value} error={options.error} onBought={reloadBalance} />
    </main>
  );
}
