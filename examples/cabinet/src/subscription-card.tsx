import type { CabinetProcedures } from '@subscription-service/client';
import { useState } from 'react';
import { sentenceOf } from './service.ts';
import { day, useLanguage, useTexts } from './texts.ts';

type SubscriptionStatus = Awaited<ReturnType<CabinetProcedures['subscription']['get']['query']>>;
type Subscription = NonNullable<SubscriptionStatus['subscription']>;

export function SubscriptionCard({ status, error }: { status: SubscriptionStatus | null; error: unknown }) {
  const texts = useTexts();
  const subscription = status?.subscription;
  return (
    <section className="card" data-testid="subscription">
      <h2>{texts.subscription}</h2>
      {error !== null && <p className="problem">{sentenceOf(error)}</p>}
      {subscription ? (
        <Facts subscription={subscription} />
      ) : (
        <p className="soft">{status === null ? '…' : texts.noSubscription}</p>
      )}
    </section>
  );
}

function Facts({ subscription }: { subscription: Subscription }) {
  const texts = useTexts();
  const language = useLanguage();
  const { traffic_limit_gb: limit, traffic_used_gb: used } = subscription;
  return (
    <>
      <p className="figure small">
        {subscription.tariff_name ?? texts.subscription}{' '}
        <span className={subscription.is_active ? 'state active' : 'state'}>
          {texts.until} {day(subscription.end_date, language)}
        </span>
      </p>
      <dl>
        <dt>{texts.traffic}</dt>
        <dd>
          {limit === 0 ? texts.unlimited : `${used.toFixed(1)} / ${limit} ${texts.gb}`}
          {limit > 0 && <progress max={100} value={subscription.traffic_used_percent} />}
        </dd>
        <dt>{texts.devices}</dt>
        <dd>{subscription.device_limit}</dd>
      </dl>
      {!subscription.hide_subscription_link && subscription.is_active && <Link url={subscription.subscription_url ?? null} />}
    </>
  );
}

function Link({ url }: { url: string | null }) {
  const texts = useTexts();
  const [isCopied, setIsCopied] = useState(false);
  if (url === null) return <p className="soft">{texts.linkComing}</p>;
  const copy = () => navigator.clipboard.writeText(url).then(() => setIsCopied(true));
  return (
    <div className="link">
      <span className="soft">{texts.link}</span>
      <code data-testid="subscription-link">{url}</code>
      <button type="button" className="plain" onClick={copy}>
        {isCopied ? texts.copied : texts.copy}
      </button>
    </div>
  );
}
