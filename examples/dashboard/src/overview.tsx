import { DailyChart } from './chart.tsx';
import { LiveFeed, useReloadOn } from './live-feed.tsx';
import { Panel, Stat, Table } from './panel.tsx';
import { client, useMayFollow } from './service.ts';
import { count, money, useLanguage, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

const ROWS = 5;
const MONEY_EVENTS = ['payment.completed', 'transaction.created', 'user.created'];

/** The service at a glance; its numbers follow the feed. */
export function Overview() {
  const texts = useTexts();
  const language = useLanguage();
  const mayFollow = useMayFollow();
  const stats = useLoaded(() => client.admin.stats.dashboard.query());
  const campaigns = useLoaded(() => client.admin.stats.topCampaigns.query({ limit: ROWS }));
  const referrers = useLoaded(() => client.admin.stats.topReferrers.query({ limit: ROWS }));
  useReloadOn(MONEY_EVENTS, () => {
    for (const { reload } of [stats, campaigns, referrers]) reload();
  });
  const rubles = (kopeks: number) => money(kopeks, language);
  const number = (value: number) => count(value, language);

  return (
    <div className="grid">
      <Panel title={texts.income} loaded={stats} isWide>
        {({ financial, subscriptions, nodes, revenue_chart }) => (
          <>
            <dl className="figures">
              <Stat name={texts.incomeToday} value={rubles(financial.income_today_kopeks)} testId="income-today" />
              <Stat name={texts.incomeMonth} value={rubles(financial.income_month_kopeks)} />
              <Stat name={texts.activeSubscriptions} value={number(subscriptions.active)} testId="active-subscriptions" />
              <Stat name={texts.onlineNow} value={number(nodes.total_users_online)} />
            </dl>
            <DailyChart
              title={texts.incomeByDay}
              data={revenue_chart.map(({ date, amount_kopeks }) => ({ date, value: amount_kopeks }))}
              format={rubles}
              testId="income-chart"
            />
          </>
        )}
      </Panel>
      {mayFollow && <LiveFeed />}
      <Panel
        title={texts.topTariffs}
        loaded={stats}
        empty={(value) => (value.tariff_stats?.tariffs.length ? null : texts.nothing)}
      >
        {({ tariff_stats }) => (
          <Table
            caption={texts.topTariffs}
            columns={[texts.tariff, `#${texts.active}`, `#${texts.boughtMonth}`]}
            rows={[...(tariff_stats?.tariffs ?? [])]
              .sort((a, b) => b.purchased_month - a.purchased_month)
              .slice(0, ROWS)
              .map(({ tariff_id, tariff_name, active_subscriptions, purchased_month }) => ({
                key: tariff_id,
                cells: [tariff_name, number(active_subscriptions), number(purchased_month)],
              }))}
          />
        )}
      </Panel>
      <Panel title={texts.topCampaigns} loaded={campaigns} empty={(value) => (value.campaigns.length ? null : texts.nothing)}>
        {(value) => (
          <Table
            caption={texts.topCampaigns}
            columns={[texts.campaign, `#${texts.registrations}`, `#${texts.revenue}`]}
            rows={value.campaigns.map(({ id, name, registrations, total_revenue_kopeks }) => ({
              key: id,
              cells: [name, number(registrations), rubles(total_revenue_kopeks)],
            }))}
          />
        )}
      </Panel>
      <Panel title={texts.topReferrers} loaded={referrers} empty={(value) => (value.by_invited.length ? null : texts.nothing)}>
        {(value) => (
          <Table
            caption={texts.topReferrers}
            columns={[texts.referrer, `#${texts.invited}`, `#${texts.earned}`]}
            rows={value.by_invited.map(({ user_id, display_name, invited_count, earnings_total_kopeks }) => ({
              key: user_id,
              cells: [display_name, number(invited_count), rubles(earnings_total_kopeks ?? 0)],
            }))}
          />
        )}
      </Panel>
    </div>
  );
}
