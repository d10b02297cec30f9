import { type AnswerContext, externalSquadsAnswer, internalSquadsAnswer, subscriptionUrlOf } from './panel-answers.ts';
import type { StoredUser, UserStatus } from './panel-data.ts';
import { currentStatus } from './user-rules.ts';

export interface ViewedUser {
  uuid: string;
  username: string;
  status: UserStatus;
  expireAt: string;
  usedTrafficBytes: number;
  trafficLimitBytes: number;
  subscriptionUrl: string;
  squads: string[];
  hwids: string[];
}

/** Direct access for the sandbox page: what the panel's own screens and the users' devices would do. */
export interface PanelView {
  /** Newest first. */
  listUsers(limit?: number): ViewedUser[];
  listSquads(): { uuid: string; name: string; membersCount: number; isExternal: boolean }[];
  /** Adds a device as a client application does, without the limit. @returns false for an unknown user */
  addDevice(userUuid: string, hwid: string): boolean;
  /** Counts traffic as a node does; the user becomes `LIMITED` at the limit. @returns false for an unknown user */
  addTraffic(userUuid: string, bytes: number): boolean;
}

export function createPanelView(context: AnswerContext): PanelView {
  const { state } = context;
  const view = (user: StoredUser): ViewedUser => ({
    uuid: user.uuid,
    username: user.username,
    status: currentStatus(user, state.clock.now()),
    expireAt: user.expireAt,
    usedTrafficBytes: user.usedTrafficBytes,
    trafficLimitBytes: user.trafficLimitBytes,
    subscriptionUrl: subscriptionUrlOf(context, user),
    squads: state.meta.internalSquads.filter((squad) => user.squadUuids.includes(squad.uuid)).map((squad) => squad.name),
    hwids: user.devices.map((device) => device.hwid),
  });
  return {
    listUsers: (limit = 100) => [...state.users()].slice(-limit).reverse().map(view),
    listSquads: () => [
      ...internalSquadsAnswer(state).map(({ uuid, name, info }) => ({
        uuid,
        name,
        membersCount: info.membersCount,
        isExternal: false,
      })),
      ...externalSquadsAnswer(state).map(({ uuid, name, info }) => ({
        uuid,
        name,
        membersCount: info.membersCount,
        isExternal: true,
      })),
    ],
    addDevice(userUuid, hwid) {
      const user = state.byUuid(userUuid);
      if (!user) return false;
      const now = state.clock.now().toISOString();
      const details = {
        platform: 'Android',
        osVersion: '15',
        deviceModel: 'Sandbox phone',
        userAgent: 'Sandbox/1.0',
        requestIp: null,
      };
      state.addDevice(user, { hwid, ...details, createdAt: now, updatedAt: now });
      return true;
    },
    addTraffic(userUuid, bytes) {
      const user = state.byUuid(userUuid);
      if (!user) return false;
      const now = state.clock.now().toISOString();
      state.update(user, {
        usedTrafficBytes: user.usedTrafficBytes + bytes,
        lifetimeUsedTrafficBytes: user.lifetimeUsedTrafficBytes + bytes,
        onlineAt: now,
        firstConnectedAt: user.firstConnectedAt ?? now,
      });
      return true;
    },
  };
}
