import type { Subscription, SubscriptionStatus } from './account-state.tsx';
import { CopyField } from './copy-field.tsx';
import { addressOf } from './routes.ts';
import { client, sentenceOf } from './service.ts';
import { day, useLanguage, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

export function SubscriptionCard({ status, error }: { status: SubscriptionStatus | null; error: unknown }) {
  const texts = useTexts();
  const subscription = status?.subscription;
  return (
    <section className="card" data-testid="subscription">
      <h2>{texts.subscription}</h2>
      {error !== null && <p className="problem">{sentenceOf(error)}</p>}
      {subscription ? (
        <Facts subscription={subscription} />
      ) : status === null ? (
        <p className="soft">…</p>
      ) : (
        <>
          <p className="soft">{texts.noSubscription}</p>
          <p>
            <a className="main" href={addressOf('tariffs')}>
              {texts.chooseTariff}
            </a>
          </p>
        </>
      )}
    </section>
  );
}

function Facts({ subscription }: { subscription: Subscription }) {
  const texts = useTexts();
  const language = useLanguage();
  const { traffic_limit_gb: limit, traffic_used_gb: used, servers } = subscription;
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
          {limit > 0 && <progress max={100} value={subscription.traffic_used_percent} aria-label={texts.traffic} />}
        </dd>
        <dt>{texts.devices}</dt>
        <dd>{subscription.device_limit}</dd>
        {servers.length > 0 && (
          <>
            <dt>{texts.servers}</dt>
            <dd>{servers.map(({ name }) => name).join(', ')}</dd>
          </>
        )}
      </dl>
      {!subscription.hide_subscription_link && subscription.is_active && (
        <Connection url={subscription.subscription_url ?? null} />
      )}
    </>
  );
}

function Connection({ url }: { url: string | null }) {
  const texts = useTexts();
  if (url === null) return <p className="soft">{texts.linkComing}</p>;
  return (
    <>
      <CopyField label={texts.subscriptionLink} value={url} testId="subscription-link" />
      <Instructions />
    </>
  );
}

function Instructions() {
  const texts = useTexts();
  const link = useLoaded(() => client.api.subscription.connectionLink.query());
  const steps = link.value?.instructions.steps ?? [];
  if (steps.length === 0) return null;
  return (
    <details>
      <summary>{texts.connect}</summary>
      <ol>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </details>
  );
}
