import { z } from 'zod';
import { RESET_STRATEGIES, USER_STATUSES } from './panel-data.ts';

/** What the fake accepts about users (spec 06 section 9); the newer generation's names, to which `adapt` converts the older one's. */

const UserStatus = z.enum(USER_STATUSES);
const ResetStrategy = z.enum(RESET_STRATEGIES);
/** ISO 8601; without a zone the time of the panel's machine, as it reads it too. */
const Timestamp = z.iso.datetime({ offset: true, local: true }).transform((text) => new Date(text));
const Tag = z
  .string()
  .max(16)
  .regex(/^[A-Z0-9_]+$/);
const Password = z.string().min(8).max(32);

/** Fields that creation and change have in common. Numbers that only the database refuses are accepted here (08 P4). */
const sharedFields = {
  trafficLimitBytes: z.number().min(0).optional(),
  trafficLimitStrategy: ResetStrategy.optional(),
  telegramId: z.number().nullish(),
  email: z.email().nullish(),
  tag: Tag.nullish(),
  activeInternalSquads: z.array(z.uuid()).optional(),
  externalSquadUuid: z.uuid().nullish(),
};

export const CreateUserBody = z.object({
  ...sharedFields,
  username: z
    .string()
    .min(3)
    .max(36)
    .regex(/^[\w-]+$/),
  status: UserStatus.optional(),
  expireAt: Timestamp,
  createdAt: Timestamp.optional(),
  lastTrafficResetAt: Timestamp.optional(),
  description: z.string().optional(),
  hwidDeviceLimit: z.int().min(0).optional(),
  shortUuid: z.string().optional(),
  vlessUuid: z.guid().optional(),
  trojanPassword: Password.optional(),
  ssPassword: Password.optional(),
});
export type CreateUserBody = z.output<typeof CreateUserBody>;

/** The user is named by number or by username; whether the end is past is decided by the caller's clock. */
export const PatchUserBody = z
  .object({
    ...sharedFields,
    id: z.number().optional(),
    username: z.string().optional(),
    status: z.enum(['ACTIVE', 'DISABLED']).optional(),
    expireAt: Timestamp.optional(),
    description: z.string().nullish(),
    hwidDeviceLimit: z.int().min(0).nullish(),
  })
  .refine((body) => Boolean(body.username ?? body.id), 'A user is named by id or username');
export type PatchUserBody = z.output<typeof PatchUserBody>;

export const UsersSquadsBody = z.object({
  userIds: z.array(z.number()).min(1).max(500),
  activeInternalSquads: z.array(z.uuid()),
});
export type UsersSquadsBody = z.output<typeof UsersSquadsBody>;

export const ResolveUserBody = z
  .object({ id: z.number().optional(), shortUuid: z.string().optional(), username: z.string().optional() })
  .refine((body) => Object.values(body).filter((name) => name !== undefined).length === 1, 'A user has exactly one name here');
export type ResolveUserBody = z.output<typeof ResolveUserBody>;

export const RevokeUserBody = z.object({
  revokeOnlyPasswords: z.boolean().optional(),
  shortUuid: z.string().min(16).max(64).optional(),
});
export type RevokeUserBody = z.output<typeof RevokeUserBody>;

const Size = z.coerce.number().min(1).max(1000);

/** Offset and size of a page; filters and sorting of the panel's own screens are ignored. */
export const PageQuery = z.object({ start: z.coerce.number().default(0), size: Size.default(25) });

export const UserStreamQuery = z.object({
  cursor: z.coerce.number().optional(),
  size: Size.default(250),
  status: UserStatus.optional(),
  trafficLimitStrategy: ResetStrategy.optional(),
  telegramId: z.coerce.number().nonnegative().optional(),
  email: z.email().optional(),
  tag: z.string().optional(),
  externalSquadUuid: z.uuid().optional(),
});
