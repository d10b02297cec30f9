import { type FormEvent, useState } from 'react';
import { Pager, Panel, Table } from './panel.tsx';
import { client } from './service.ts';
import { count, dayAndTime, money, useLanguage, useTexts, wordOf } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

const PAGE = 25;

/** Search of users. An e-mail address is another filter of the interface than a name. */
export function Users() {
  const texts = useTexts();
  const language = useLanguage();
  const [search, setSearch] = useState('');
  const [offset, setOffset] = useState(0);
  const found = useLoaded(
    () =>
      client.admin.users.list.query({
        limit: PAGE,
        offset,
        ...(search === '' ? {} : search.includes('@') ? { email: search } : { search }),
      }),
    `${search} ${offset}`,
  );

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setOffset(0);
    setSearch(String(new FormData(event.currentTarget).get('search')).trim());
  }

  return (
    <>
      <search>
        <form className="row" onSubmit={submit}>
          <label>
            {texts.searchHint}
            <input name="search" type="search" maxLength={255} defaultValue={search} />
          </label>
          <button type="submit" className="main">
            {texts.search}
          </button>
        </form>
      </search>
      <Panel
        title={texts.users}
        loaded={found}
        empty={(value) => (value.users.length ? null : texts.notFound)}
        testId="users"
        isWide
      >
        {({ users, total }) => (
          <>
            <p className="soft">
              {texts.found}: {count(total, language)}
            </p>
            <Table
              caption={texts.users}
              columns={[texts.name, texts.contact, texts.status, `#${texts.balance}`, `#${texts.spent}`, texts.since]}
              rows={users.map((user) => ({
                key: user.id,
                cells: [
                  <a key="name" href={`#/users/${user.id}`}>
                    {user.full_name}
                  </a>,
                  user.username ? `@${user.username}` : (user.messenger_id ?? ''),
                  wordOf(texts, user.subscription_status ?? user.status),
                  money(user.balance_kopeks, language),
                  money(user.total_spent_kopeks, language),
                  dayAndTime(user.created_at, language),
                ],
              }))}
            />
            <Pager offset={offset} size={PAGE} total={total} onOffset={setOffset} />
          </>
        )}
      </Panel>
    </>
  );
}
