import { z } from 'zod';

/** What the fake accepts about squads, nodes, devices and usage. */

const SquadName = z
  .string()
  .min(2)
  .max(30)
  .regex(/^[\w\s-]+$/);
const Inbounds = z.array(z.uuid());

export const CreateSquadBody = z.object({ name: SquadName, inbounds: Inbounds });
export type CreateSquadBody = z.output<typeof CreateSquadBody>;

export const PatchSquadBody = z.object({ uuid: z.uuid(), name: SquadName.optional(), inbounds: Inbounds.optional() });
export type PatchSquadBody = z.output<typeof PatchSquadBody>;

export const RestartBody = z.object({ forceRestart: z.boolean() });

/** The user whose devices are meant; the older generation's `userUuid` is converted before. */
export const DeviceOwnerBody = z.object({ userId: z.number() });
export type DeviceOwnerBody = z.output<typeof DeviceOwnerBody>;

export const DeviceNameBody = DeviceOwnerBody.extend({ hwid: z.string() });
export type DeviceNameBody = z.output<typeof DeviceNameBody>;

/** Name of a device, as applications send it in `x-hwid`. */
export const HWID_PATTERN = /^[a-zA-Z0-9=-]{10,64}$/;

export const NewDeviceBody = DeviceOwnerBody.extend({
  hwid: z.string().regex(HWID_PATTERN),
  platform: z.string().optional(),
  osVersion: z.string().optional(),
  deviceModel: z.string().optional(),
  userAgent: z.string().optional(),
  requestIp: z.string().optional(),
});
export type NewDeviceBody = z.output<typeof NewDeviceBody>;

/** Days as `YYYY-MM-DD`, both included. */
export const UsageQuery = z.object({ start: z.iso.date(), end: z.iso.date() });

export const NodeUsersQuery = UsageQuery.extend({ topUsersLimit: z.coerce.number().min(1).default(100) });

/** Users of several nodes; those with less traffic are left out. */
export const NodeTotalsQuery = UsageQuery.extend({ minTotalBytes: z.coerce.number().min(0).default(0) });
export const NodeTotalsBody = z.object({ nodesUuids: z.array(z.uuid()).min(1) });
export type NodeTotalsBody = z.output<typeof NodeTotalsBody>;
