import { choice, on, operand, option } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { assignments, dockers, engine, imageName, word } from './shared/engine.ts';
import { reaches, reads } from './shared/effects.ts';

const builder = option('--builder=', word('Builder'));
const target = option('--target=', word('Stage to build'));
const platform = option('--platform=', list(name('linux/arm64'), 'Platforms'), (all) => all.join(','));
const image = { tag: option('--tag=', list(imageName('name:tag'), 'Names of the image')) };
const shared = {
  builder,
  dockerfile: option('--file=', path('Default: Dockerfile in the context', 'file')),
  target,
  platform,
  build_args: option('--build-arg=', assignments('NAME=value')),
  no_cache: on('--no-cache', 'Build every layer anew'),
  pull: on('--pull', 'Fetch newer base images'),
  ...image,
};
const context = operand(path('Build context', 'folder').default('.'));
const given = { tag: ['registry.example/shop:1'] };

export default program('buildx', {
  ...engine,
  title: 'Docker Buildx',
  site: 'https://docs.docker.com/reference/cli/docker/buildx',
  get: { brew: 'docker-buildx', site: 'https://docs.docker.com/build/install-buildx' },
  called: ['docker buildx', 'buildx'],
  version: { args: ['version'], pattern: /v?(\d+\.\d[\w.+-]*)/ },
  elsewhere: dockers,
  project: ['docker-bake.hcl', 'docker-bake.json'],
  environment: [...engine.environment, 'BUILDX_BUILDER'],
  actions: {
    build: action('Build an image with Buildx', 'Builds for one or more platforms.', reaches, {
      run: ['build'],
      params: {
        ...shared,
        result: choice({ load: '--load', cache: [] }, 'Where it goes: to the images here, or no further'),
        context,
      },
      given: { tag: ['shop:dev'] },
    }),
    publish: action(
      'Build and push an image with Buildx',
      'Builds, and uploads.',
      ['execute', 'network', 'publish'],
      {
        run: ['build', '--push'],
        params: { ...shared, context },
        given,
      },
    ),
    check: action('Check a Dockerfile with Buildx', 'Mistakes and bad habits in a Dockerfile.', reaches, {
      run: ['build', '--check'],
      params: { dockerfile: shared.dockerfile, target, context },
      ok: [0, 1],
    }),
    bake: action('Bake images with Buildx', 'Builds what a bake file names.', reaches, {
      run: ['bake'],
      params: {
        file: option('--file=', list(path('Bake or Compose file', 'file'), 'Instead of the usual ones')),
        no_cache: shared.no_cache,
        targets: operand(list(word('Target or group'), 'Default: default')),
      },
    }),
    builders: action('List Buildx builders', 'Builders with nodes and platforms.', reads, { run: ['ls'] }),
    prune: action('Prune the Buildx cache', 'Deletes what is cached of builds.', ['destroy'], {
      run: ['prune', '--force'],
      params: { builder, all: on('--all', 'Also what is still used') },
    }),
  },
});
