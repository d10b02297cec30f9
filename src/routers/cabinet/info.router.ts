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
import { cabinetProcedure, publicProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  CabinetInfoFaqPageResponse,
  InfoFaqPath,
  InfoQuery,
  LanguagesResponse,
  PrivacyPolicyResponse,
  PublicOfferResponse,
  RulesResponse,
  ServiceInfoResponse,
  SupportConfigResponse,
  UserLanguageRequest,
  UserLanguageResponse,
} from './info.schemas.ts';

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
