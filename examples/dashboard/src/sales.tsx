import { useState } from 'react';
import { DailyChart } from './chart.tsx';
import { useReloadOn } from './live-feed.tsx';
import { Panel, Stat, Table } from './panel.tsx';
import { client } from './service.ts';
import { count, money, useLanguage, useTexts, wordOf } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

const PERIODS = [7, 30, 90];

/** Sales and top-ups over time. */
export function Sales() {
  const texts = useTexts();
  const language = useLanguage();
  const [days, setDays] = useState(30);
  const { salesStats } = client.admin;
  const summary = useLoaded(() => salesStats.summary.query({ days }), days);
  const sales = useLoaded(() => salesStats.subscriptions.query({ days }), days);
  const deposits = useLoaded(() => salesStats.deposits.query({ days }), days);
  useReloadOn(['payment.completed', 'transaction.created'], () => {
    for (const { reload } of [summary, sales, deposits]) reload();
  });
  const rubles = (kopeks: number) => money(kopeks, language);
  const number = (value: number) => count(value, language);

  return (
    <>
      <label className="inline">
        {texts.period}
        <select value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {PERIODS.map((period) => (
            <option key={period} value={period}>
              {period} {texts.days}
            </option>
          ))}
        </select>
      </label>
      <div className="grid">
        <Panel title={texts.income} loaded={summary} isWide>
          {(value) => (
            <dl className="figures">
              <Stat name={texts.revenue} value={rubles(value.total_revenue_kopeks)} testId="revenue" />
              <Stat name={texts.renewals} value={number(value.renewals_count)} />
              <Stat name={texts.newTrials} value={number(value.new_trials)} />
              <Stat name={texts.activeSubscriptions} value={number(value.active_subscriptions)} />
            </dl>
          )}
        </Panel>
        <Panel title={texts.salesByDay} loaded={sales} empty={(value) => (value.daily.length ? null : texts.nothing)} isWide>
          {(value) => (
            <>
              <dl className="figures">
                <Stat name={texts.salesCount} value={number(value.total_sales)} />
                <Stat name={texts.averageOrder} value={rubles(value.avg_order_kopeks)} />
              </dl>
              <DailyChart
                title={texts.salesByDay}
                kind="bar"
                data={value.daily.map((one) => ({ date: one.date, value: one.count }))}
                format={number}
                days={days}
                testId="sales-chart"
              />
            </>
          )}
        </Panel>
        <Panel title={texts.topupsByDay} loaded={deposits} empty={(value) => (value.daily.length ? null : texts.nothing)} isWide>
          {(value) => (
            <DailyChart
              title={texts.topupsByDay}
              data={value.daily.map(({ date, amount_kopeks }) => ({ date, value: amount_kopeks }))}
              format={rubles}
              days={days}
            />
          )}
        </Panel>
        <Panel title={texts.byMethod} loaded={deposits} empty={(value) => (value.by_method.length ? null : texts.nothing)}>
          {(value) => (
            <Table
              caption={texts.byMethod}
              columns={[texts.method, `#${texts.number}`, `#${texts.amount}`]}
              rows={value.by_method.map((one) => ({
                key: one.method,
                cells: [wordOf(texts, one.method), number(one.count), rubles(one.amount_kopeks)],
              }))}
            />
          )}
        </Panel>
        <Panel title={texts.topTariffs} loaded={sales} empty={(value) => (value.by_tariff.length ? null : texts.nothing)}>
          {(value) => (
            <Table
              caption={texts.topTariffs}
              columns={[texts.tariff, `#${texts.number}`]}
              rows={value.by_tariff.map((one) => ({ key: one.tariff_id, cells: [one.tariff_name, number(one.count)] }))}
            />
          )}
        </Panel>
      </div>
    </>
  );
}
