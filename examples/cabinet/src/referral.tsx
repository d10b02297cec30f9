import { useState } from 'react';
import { CopyField } from './copy-field.tsx';
import { Pager } from './pager.tsx';
import { PartnerCard } from './partner.tsx';
import { client } from './service.ts';
import { LoadedView } from './states.tsx';
import { dateAndTime, money, useLanguage, useTexts } from './texts.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';
import { WithdrawalCard } from './withdrawal.tsx';

const PER_PAGE = 10;

/** The link to invite with, what it earned, and how the earnings are withdrawn. */
export function Referral() {
  const texts = useTexts();
  const language = useLanguage();
  const info = useLoaded(() => client.api.referral.info.query());
  const terms = useLoaded(() => client.api.referral.terms.query());
  return (
    <>
      <div className="columns">
        <section className="card" data-testid="referral">
          <h2>{texts.inviteLink}</h2>
          <LoadedView from={info}>
            {(value) => (
              <>
                <CopyField label={texts.cabinetLink} value={value.referral_link} testId="referral-link" />
                <CopyField label={texts.botLink} value={value.bot_referral_link} testId="bot-referral-link" />
                <dl>
                  <dt>{texts.referrals}</dt>
                  <dd>
                    {value.total_referrals} ({texts.activeOnes}: {value.active_referrals})
                  </dd>
                  <dt>{texts.earned}</dt>
                  <dd>{money(value.total_earnings_kopeks, language)}</dd>
                  <dt>{texts.withdrawn}</dt>
                  <dd>{money(value.withdrawn_kopeks, language)}</dd>
                </dl>
              </>
            )}
          </LoadedView>
        </section>
        <section className="card">
          <h2>{texts.terms}</h2>
          <LoadedView from={terms}>
            {(value) => (
              <dl>
                <dt>{texts.commission}</dt>
                <dd>{value.commission_percent}%</dd>
                <dt>{texts.friendBonus}</dt>
                <dd>{money(value.first_topup_bonus_kopeks, language)}</dd>
                <dt>{texts.inviterBonus}</dt>
                <dd>{money(value.inviter_bonus_kopeks, language)}</dd>
                <dt>{texts.minimumTopup}</dt>
                <dd>{money(value.minimum_topup_kopeks, language)}</dd>
              </dl>
            )}
          </LoadedView>
        </section>
      </div>
      <WithdrawalCard />
      <div className="columns">
        <ReferralList />
        <Earnings />
      </div>
      {terms.value?.partner_section_visible && <PartnerCard />}
    </>
  );
}

/** A list by pages. The key of the lists below makes another page load. */
interface Page {
  pages: number;
  total: number;
}

function ReferralList() {
  const texts = useTexts();
  const [page, setPage] = useState(1);
  return (
    <section className="card" data-testid="referrals">
      <h2>{texts.referrals}</h2>
      <ReferralPage key={page} page={page} onPage={setPage} />
    </section>
  );
}

interface PageProps {
  page: number;
  onPage: (page: number) => void;
}

function ReferralPage({ page, onPage }: PageProps) {
  const texts = useTexts();
  const language = useLanguage();
  const list = useLoaded(() => client.api.referral.list.query({ page, per_page: PER_PAGE }));
  return (
    <PagedRows list={list} page={page} onPage={onPage}>
      {({ items }) =>
        items.map((one) => (
          <li key={one.id}>
            <span>
              {one.first_name ?? one.username ?? `#${one.id}`}
              <span className="soft"> {dateAndTime(one.created_at, language)}</span>
            </span>
            {one.has_paid && <span className="state active">{texts.paid}</span>}
          </li>
        ))
      }
    </PagedRows>
  );
}

function Earnings() {
  const texts = useTexts();
  const [page, setPage] = useState(1);
  return (
    <section className="card" data-testid="earnings">
      <h2>{texts.earnings}</h2>
      <EarningsPage key={page} page={page} onPage={setPage} />
    </section>
  );
}

function EarningsPage({ page, onPage }: PageProps) {
  const language = useLanguage();
  const list = useLoaded(() => client.api.referral.earnings.query({ page, per_page: PER_PAGE }));
  return (
    <PagedRows list={list} page={page} onPage={onPage}>
      {({ items }) =>
        items.map((one) => (
          <li key={one.id}>
            <span>
              {one.referral_first_name ?? one.referral_username ?? one.campaign_name ?? one.reason}
              <span className="soft"> {dateAndTime(one.created_at, language)}</span>
            </span>
            <strong className="success">+{money(one.amount_kopeks, language)}</strong>
          </li>
        ))
      }
    </PagedRows>
  );
}

interface PagedRowsProps<Value extends Page> extends PageProps {
  list: Loaded<Value>;
  children: (value: Value) => React.ReactNode;
}

function PagedRows<Value extends Page>({ list, page, onPage, children }: PagedRowsProps<Value>) {
  const texts = useTexts();
  return (
    <LoadedView from={list} isEmpty={({ total }) => total === 0} empty={texts.nothingYet}>
      {(value) => (
        <>
          <ul className="rows">{children(value)}</ul>
          <Pager page={page} pages={value.pages} onPage={onPage} />
        </>
      )}
    </LoadedView>
  );
}
