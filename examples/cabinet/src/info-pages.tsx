import { useState } from 'react';
import { client, sentenceOf } from './service.ts';
import { type Language, useLanguage, useTexts } from './texts.ts';
import { useLoaded } from './use-loaded.ts';

interface Section {
  heading: string | null;
  text: string;
}

/** The pages may contain HTML of the messenger. This example shows their text only; line breaks are kept by the style. */
function plain(content: string): string {
  return new DOMParser().parseFromString(content, 'text/html').body.textContent ?? '';
}

const PAGES = {
  rules: async (language: Language): Promise<Section[]> => [
    { heading: null, text: plain((await client.api.info.rules.query({ language })).content) },
  ],
  faq: async (language: Language): Promise<Section[]> =>
    (await client.api.info.faq.query({ language })).map(({ title, content }) => ({ heading: title, text: plain(content) })),
  privacy: async (language: Language): Promise<Section[]> => [
    { heading: null, text: plain((await client.api.info.privacyPolicy.query({ language })).content) },
  ],
  offer: async (language: Language): Promise<Section[]> => [
    { heading: null, text: plain((await client.api.info.publicOffer.query({ language })).content) },
  ],
} as const;

type PageName = keyof typeof PAGES;

/** How to reach support, and the pages of the service in the language of the cabinet. */
export function InfoPages() {
  const texts = useTexts();
  const language = useLanguage();
  const support = useLoaded(() => client.api.info.supportConfig.query()).value;
  const [open, setOpen] = useState<PageName | null>(null);
  const names: Record<PageName, string> = {
    rules: texts.rules,
    faq: texts.faq,
    privacy: texts.privacy,
    offer: texts.publicOffer,
  };

  return (
    <footer className="info">
      <nav aria-label={texts.infoPages}>
        {(Object.keys(PAGES) as PageName[]).map((name) => (
          <button
            type="button"
            className="plain"
            key={name}
            data-testid={`info-${name}`}
            aria-expanded={open === name}
            onClick={() => setOpen(open === name ? null : name)}
          >
            {names[name]}
          </button>
        ))}
      </nav>
      {open !== null && <InfoPage key={`${open}-${language}`} name={open} />}
      {support && (
        <p className="soft" data-testid="support">
          {texts.support}: {support.support_type !== 'tickets' && support.support_username}
          {support.tickets_enabled && ` ${texts.supportTickets}`}
        </p>
      )}
    </footer>
  );
}

function InfoPage({ name }: { name: PageName }) {
  const texts = useTexts();
  const language = useLanguage();
  const { value, error } = useLoaded(() => PAGES[name](language));
  return (
    <section className="card" data-testid="info-page">
      {error !== null && <p className="problem">{sentenceOf(error)}</p>}
      {value?.length === 0 && <p className="soft">{texts.emptyPage}</p>}
      {value?.map(({ heading, text }) => (
        <div key={heading ?? name}>
          {heading !== null && <h2>{heading}</h2>}
          <p className="text">{text}</p>
        </div>
      ))}
    </section>
  );
}
