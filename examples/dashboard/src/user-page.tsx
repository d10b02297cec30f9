import { type FormEvent, useState } from 'react';
import { useReloadOn } from './live-feed.tsx';
import { Pager, Panel, Stat, Table } from './panel.tsx';
import { PersonalData } from './personal-data.tsx';
import { client, sentenceOf, useMay } from './service.ts';
import { count, dayAndTime, money, useLanguage, useTexts, wordOf } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

const PAGE = 20;

/** A user with subscription, history and money, and what the administrator's role allows to do. */
export function UserPage({ userId }: { userId: number }) {
  const texts = useTexts();
  const language = useLanguage();
  const may = useMay();
  const [offset, setOffset] = useState(0);
  const user = useLoaded(() => client.admin.users.get.query({ user_id: userId }));
  const movements = useLoaded(() => client.admin.users.transactions.query({ user_id: userId, limit: PAGE, offset }), offset);
  const reload = () => {
    user.reload();
    movements.reload();
  };
  useReloadOn(['payment.completed', 'transaction.created', 'approval.decided'], reload);

  return (
    <>
      <p>
        <a href="#/users">{texts.backToUsers}</a>
      </p>
      <div className="grid">
        <Panel title={user.value?.full_name ?? texts.user} loaded={user} testId="user" isWide>
          {(value) => (
            <dl className="figures">
              <Stat name={texts.balance} value={money(value.balance_kopeks, language)} testId="user-balance" />
              <Stat name={texts.spent} value={money(value.total_spent_kopeks, language)} />
              <Stat name={texts.purchases} value={count(value.purchase_count, language)} />
              <Stat name={texts.contact} value={contactOf(value)} />
              <Stat name={texts.since} value={dayAndTime(value.created_at, language)} />
              {value.campaign_name && <Stat name={texts.campaign} value={value.campaign_name} />}
              {value.referral.referred_by_username && (
                <Stat name={texts.referredBy} value={value.referral.referred_by_username} />
              )}
              <Stat name={texts.invited} value={count(value.referral.referrals_count, language)} />
            </dl>
          )}
        </Panel>
        <Panel
          title={texts.subscription}
          loaded={user}
          empty={({ subscription }) => (subscription ? null : texts.noSubscription)}
          testId="user-subscription"
        >
          {({ subscription }) =>
            subscription && (
              <dl className="figures">
                <Stat name={texts.tariff} value={subscription.tariff_name ?? '—'} />
                <Stat name={texts.status} value={wordOf(texts, subscription.status)} />
                {subscription.end_date && <Stat name={texts.until} value={dayAndTime(subscription.end_date, language)} />}
                <Stat
                  name={texts.traffic}
                  value={`${count(subscription.traffic_used_gb, language)} / ${subscription.traffic_limit_gb || '∞'}`}
                />
                <Stat name={texts.devices} value={count(subscription.device_limit, language)} />
              </dl>
            )
          }
        </Panel>
        {may('users:balance') && <BalanceForm userId={userId} onChanged={reload} />}
        <Panel
          title={texts.movements}
          loaded={movements}
          empty={({ total }) => (total === 0 ? texts.nothing : null)}
          testId="movements"
          isWide
        >
          {({ transactions, total }) => (
            <>
              <Table
                caption={texts.movements}
                columns={[texts.what, `#${texts.amount}`, texts.when]}
                rows={transactions.map((one) => ({
                  key: one.id,
                  cells: [
                    one.description ?? wordOf(texts, one.type),
                    money(one.amount_kopeks, language),
                    dayAndTime(one.created_at, language),
                  ],
                }))}
              />
              <Pager offset={offset} size={PAGE} total={total} onOffset={setOffset} />
            </>
          )}
        </Panel>
        {may('personal_data:read') && <PersonalData userId={userId} />}
      </div>
    </>
  );
}

function contactOf(user: { username?: string | null; email?: string | null; messenger_id?: number | null }): string {
  return [user.username && `@${user.username}`, user.email, user.messenger_id].filter(Boolean).join(', ');
}

/** A change above the limit of the service waits for a second administrator, which the answer says. */
function BalanceForm({ userId, onChanged }: { userId: number; onChanged: () => void }) {
  const texts = useTexts();
  const [outcome, setOutcome] = useState<{ text: string; isGood: boolean } | null>(null);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    try {
      const { approval } = await client.admin.users.updateBalance.mutate({
        user_id: userId,
        amount_kopeks: Math.round(Number(fields.get('amount')) * 100),
        description: String(fields.get('reason')),
      });
      setOutcome({ text: approval ? texts.changeWaits : texts.changed, isGood: true });
      form.reset();
      onChanged();
    } catch (error) {
      setOutcome({ text: sentenceOf(error, texts.denied), isGood: false });
    }
  }

  return (
    <form className="card" onSubmit={submit} data-testid="balance-form">
      <h2>{texts.changeBalance}</h2>
      <label>
        {texts.amountRubles}
        <input name="amount" type="number" step="0.01" required />
      </label>
      <label>
        {texts.reason}
        <input name="reason" required maxLength={255} />
      </label>
      <button type="submit" className="main">
        {texts.apply}
      </button>
      {outcome && (
        <p className={outcome.isGood ? 'good' : 'problem'} role="status">
          {outcome.text}
        </p>
      )}
    </form>
  );
}
