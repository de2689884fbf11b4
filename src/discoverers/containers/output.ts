import * as z from 'zod';
import type { Reader } from '../../core/grammar.ts';
import type { containers, images } from '../reports/kinds.ts';
import { json } from '../reports/readers.ts';
import { objects, stateOf } from '../shared/engine.ts';

type ContainerItems<K extends { result: z.ZodType }> = (z.input<K['result']> & {
  items: readonly unknown[];
})['items'];
/** The readers of an engine's answers. */
export interface EngineReaders {
  /** Asks for JSON. */
  json: string;
  ps: Reader<ContainerItems<typeof containers>>;
  images: Reader<ContainerItems<typeof images>>;
}

const text = z.string().default('');
export const docker: EngineReaders = {
  // Before Docker 23 the word json is a template without fields.
  json: '--format={{json .}}',
  ps: objects(
    z.object({ ID: z.string(), Names: z.string(), Image: text, State: text, Status: text, Ports: text }),
    (one) => ({
      id: one.ID,
      name: one.Names,
      image: one.Image,
      state: stateOf(one.State, one.Status),
      ports: one.Ports,
    }),
  ),
  images: objects(z.object({ ID: z.string(), Repository: z.string(), Tag: text, Size: text }), (one) => ({
    id: one.ID,
    name: one.Repository,
    tag: one.Tag,
    size: one.Size,
  })),
};

const port = z.object({
  host_ip: text,
  host_port: z.int().default(0),
  container_port: z.int(),
  protocol: text,
});
const podmanPs = z.object({
  Id: z.string(),
  Names: z.array(z.string()),
  Image: text,
  State: text,
  Status: text,
  Ports: z.array(port).nullish(),
});
const podmanImage = z.object({ Id: z.string(), Names: z.array(z.string()).nullish(), Size: z.int() });
export const podman: EngineReaders = {
  json: '--format=json',
  ps: json(z.array(podmanPs), (all) =>
    all.map((one) => ({
      id: one.Id.slice(0, 12),
      name: one.Names.join(','),
      image: one.Image,
      state: stateOf(one.State, one.Status),
      ports: one.Ports?.map(
        (each) =>
          `${each.host_ip || '0.0.0.0'}:${each.host_port}->${each.container_port}/${each.protocol || 'tcp'}`,
      ).join(', '),
    })),
  ),
  // An image of two names comes twice, with both.
  images: json(z.array(podmanImage), (all) =>
    [...new Map(all.map((one) => [one.Id, one])).values()].flatMap(({ Id, Names, Size }) =>
      (Names?.length ? Names : ['<none>']).map((full) => {
        const [, key = full, tag] = /^(.*):([^:/]+)$/.exec(full) ?? [];
        return { id: Id.slice(0, 12), name: key, tag, size: `${Math.round(Size / 1e5) / 10}MB` };
      }),
    ),
  ),
};
