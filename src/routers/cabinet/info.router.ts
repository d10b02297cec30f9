import { z } from 'zod';
import { pageNotFound } from '../../domain/content/pages/rules.ts';
import type { FaqPage } from '../../domain/content/pages/types.ts';
import {
  chooseLanguage,
  type InfoPage,
  languageNotOffered,
  listQuestions,
  readInfoDocument,
  readInfoRules,
  readLanguages,
  readMyLanguage,
  readQuestion,
  readServiceInfo,
  readSupportConfig,
} from '../../domain/content/service-info.ts';
import { publishedAsFreeForm } from '../shared.schemas.ts';
import { cabinetProcedure, publicProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Info`. */

const language = z.string().min(2).max(10).default('ru');

const InfoQuery = z.object({
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case. Where it has no text, `DEFAULT_LANGUAGE` is used.',
  ),
});
const InfoFaqPath = z.object({
  page_id: z.int().describe('Id of the question.'),
  language: language.describe(
    'Language: the part before a hyphen counts, in lower case. Where it has no text, `DEFAULT_LANGUAGE` is used.',
  ),
});

const CabinetInfoFaqPageResponse = z
  .object({
    id: z.int().describe('Id of the frequent question.'),
    title: z.string().describe('The question.'),
    content: z.string().describe('The answer. Text in HTML or Markdown; of HTML only what is safe in a browser.'),
    order: z.int().describe('Place in the list; smaller numbers come first, equal ones are possible.'),
  })
  .meta({ id: 'CabinetInfoFaqPageResponse' });

const page = {
  content: z.string().describe('Text in HTML or Markdown; of HTML only what is safe in a browser.'),
  updated_at: z.string().nullish().describe('When the text was last changed (UTC); null for a built-in text.'),
};
const RulesResponse = z.object(page).meta({ id: 'RulesResponse' });
const PrivacyPolicyResponse = z.object(page).meta({ id: 'PrivacyPolicyResponse' });
const PublicOfferResponse = z.object(page).meta({ id: 'PublicOfferResponse' });

const ServiceInfoResponse = z
  .object({
    name: z.string().describe('Name of the service (`SERVICE_NAME`).'),
    description: z.string().nullish().describe('Description of the service (`SERVICE_DESCRIPTION`); null for none.'),
    support_email: z.string().nullish().describe('E-mail address of support (`SUPPORT_EMAIL`); null for none.'),
    support_messenger: z.string().nullish().describe('Name of support in the messenger (`SUPPORT_USERNAME`); null for none.'),
    website: z.string().nullish().describe('Address of the web site (`WEBSITE_URL`); null for none.'),
  })
  .meta({ id: 'ServiceInfoResponse' });

const SupportConfigResponse = z
  .object({
    tickets_enabled: z.boolean().describe('Whether users can open tickets.'),
    support_type: z.string().describe('`tickets`, `profile` (a contact in the messenger) or `both`.'),
    support_url: z.string().nullish().describe('Always null.'),
    support_username: z
      .string()
      .nullish()
      .describe('Name of support in the messenger (`SUPPORT_USERNAME`), in every mode; null for none.'),
  })
  .meta({ id: 'SupportConfigResponse' });

const LanguagesResponse = publishedAsFreeForm(
  z.object({
    languages: z.object({ code: z.string(), name: z.string(), flag: z.string() }).array(),
    default: z.string(),
  }),
);

const UserLanguageResponse = publishedAsFreeForm(z.object({ language: z.string() }));

/** The whole body; `language` is the only key that means something. */
const UserLanguageRequest = z.object({
  body: z.record(z.string(), z.string()).meta({ example: { language: 'en' } }),
});

const tags: [string] = ['Cabinet Info'];
const infoProcedure = publicProcedure('cabinet');

const toQuestion = ({ displayOrder, ...page }: FaqPage) => ({ ...page, order: displayOrder });
const toText = ({ content, updatedAt }: InfoPage) => ({ content, updatedAt: updatedAt?.toISOString() ?? null });

export const infoRouter = router({
  faq: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/faq', tags, summary: 'Frequent questions' },
      description:
        'Lists the active questions in their order. Where the language has none, those of `DEFAULT_LANGUAGE`; none while they are switched off. Contents are safe to show in a browser.',
    })
    .input(fromWire(InfoQuery))
    .output(toWire(CabinetInfoFaqPageResponse.array()))
    .query(async ({ ctx, input }) => (await listQuestions(ctx.app, input.language)).map(toQuestion)),

  faqPage: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/faq/{page_id}', tags, summary: 'A frequent question' },
      description: 'Returns an active question of this language or of `DEFAULT_LANGUAGE`.',
      refuses: [pageNotFound],
    })
    .input(fromWire(InfoFaqPath))
    .output(toWire(CabinetInfoFaqPageResponse))
    .query(async ({ ctx, input }) => toQuestion(await readQuestion(ctx.app, input.pageId, input.language))),

  rules: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/rules', tags, summary: 'Rules of the service' },
      description:
        'Returns the rules in force: of the language, else of `DEFAULT_LANGUAGE`, else built-in ones in this language. The content is safe to show in a browser.',
    })
    .input(fromWire(InfoQuery))
    .output(toWire(RulesResponse))
    .query(async ({ ctx, input }) => toText(await readInfoRules(ctx.app, input.language))),

  privacyPolicy: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/privacy-policy', tags, summary: 'Privacy policy' },
      description:
        'Returns the privacy policy of the language, where it is missing or blank that of `DEFAULT_LANGUAGE`. Where none is shown, a short placeholder. The content is safe to show in a browser.',
    })
    .input(fromWire(InfoQuery))
    .output(toWire(PrivacyPolicyResponse))
    .query(async ({ ctx, input }) => toText(await readInfoDocument(ctx.app, 'privacy_policy', input.language))),

  publicOffer: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/public-offer', tags, summary: 'Public offer' },
      description:
        'Returns the public offer of the language, where it is missing or blank that of `DEFAULT_LANGUAGE`. Where none is shown, a short placeholder. The content is safe to show in a browser.',
    })
    .input(fromWire(InfoQuery))
    .output(toWire(PublicOfferResponse))
    .query(async ({ ctx, input }) => toText(await readInfoDocument(ctx.app, 'public_offer', input.language))),

  service: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/service', tags, summary: 'Name and contacts of the service' },
      description: 'Returns name, description and contacts of the service.',
    })
    .output(toWire(ServiceInfoResponse))
    .query(({ ctx }) => readServiceInfo(ctx.app)),

  languages: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/languages', tags, summary: 'Languages to choose from' },
      description:
        'Returns `languages`, the languages that users may choose, with `code`, `name` and `flag`, and `default`, the code of the default language.',
    })
    .output(toWire(LanguagesResponse))
    .query(({ ctx }) => readLanguages(ctx.app)),

  userLanguage: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/user/language', tags, summary: 'Own language' },
      description: 'Returns the code of the own language as `language`.',
    })
    .output(toWire(UserLanguageResponse))
    .query(async ({ ctx }) => ({ language: await readMyLanguage(ctx.app, ctx.actor) })),

  updateUserLanguage: cabinetProcedure
    .meta({
      openapi: { method: 'PATCH', path: '/cabinet/info/user/language', tags, summary: 'Change the own language' },
      description:
        'Changes the own language to the code in `language` (absent: `ru`). The messenger, mails and invoices use it at once. Repeating the call changes nothing.',
      refuses: [languageNotOffered],
      wire: { wholeBodyKey: 'body' },
    })
    .input(UserLanguageRequest)
    .output(toWire(UserLanguageResponse))
    .mutation(async ({ ctx, input }) => {
      const language = Object.hasOwn(input.body, 'language') ? input.body.language! : null;
      return { language: await chooseLanguage(ctx.app, ctx.actor, language) };
    }),

  supportConfig: infoProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/info/support-config', tags, summary: 'How to reach support' },
      description:
        'Returns how users reach support. Clients show tickets only where `tickets_enabled` is true. Follows `SUPPORT_SYSTEM_MODE` at once.',
    })
    .output(toWire(SupportConfigResponse))
    .query(({ ctx }) => readSupportConfig(ctx.app)),
});
