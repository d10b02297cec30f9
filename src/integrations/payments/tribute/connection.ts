import type { ProviderAccess } from '../wire/provider-access.ts';

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface TributeConnection {
  /** The author's page where donors choose the sum. */
  donateLink: string;
  /** Key of the signatures. */
  apiKey: string;
}

/** Null while Tribute has no link or no key. */
export function tributeConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): TributeConnection | null {
  const access = fake();
  if (access) return { donateLink: `${access.baseUrl}/donate`, apiKey: access.secret };
  const donateLink = settings.get('TRIBUTE_DONATE_LINK') ?? '';
  const apiKey = settings.get('TRIBUTE_API_KEY') ?? '';
  return donateLink !== '' && apiKey !== '' ? { donateLink, apiKey } : null;
}
