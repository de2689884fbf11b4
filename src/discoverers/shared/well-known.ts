/** Programs that developers have and that no action is written for: `run` takes them. Found by name only. */
export const wellKnown: readonly string[] = `
  7z Rscript ab act adb age air ansible ansible-inventory ansible-lint ansible-playbook ansible-vault ant
  apt aria2c asciidoctor asdf atuin awk aws az b2 bat bazel bazelisk bison brew btop buf cabal ccache
  certbot chezmoi choco circleci cloc clojure cloudflared code-insiders conan conda consul convert corepack
  cosign coverage crane crystal cue curl dagger dart dbt delta difft dig direnv dive dnf doctl doppler dot
  doxygen dust dvc eas elixir emacs emacsclient entr envsubst esbuild exa exiftool expo eza fastlane fd
  fdfind ffmpeg ffprobe file firebase flatpak flex flutter flyctl fnm fossil fzf gcloud gcov gdb ghc ghcup
  git-lfs gitleaks gleam gnuplot goreleaser gpg grpcurl gsutil gzip helm heroku hey hg htop http hugo
  hyperfine icdiff identify inkscape iperf3 ipython jar jekyll jj jless jps jstack julia jupyter k3d k6 k9s
  kafkacat kcat kdiff3 kind kops kotlinc krew kubectx kubens kustomize latexmk lazygit lcov libreoffice lima
  limactl linkerd lldb locust lsof ltrace lua m4 magick mamba mc mdbook meson micromamba minikube mise
  mitmproxy mix mkcert mkdocs mockery mongosh mprocs multipass mypy-daemon nc netlify ngrok nim nimble ninja
  nix nm nmap nomad nx nox npx nsenter objdump ocaml op opa opam openssl optipng ord overmind p4merge packer
  pacman pandoc pass patch patchelf pdflatex pdftotext pdm perf perl pg_ctl pgcli pipx pkg-config pm2
  pngquant podman-compose pprof procs protoc protolint psexec pulumi pv pyinstaller qemu-img railway rclone
  rebar3 redis-cli redoc restic rg rsync rustc sam sass sbt scala scoop scp screen sed sentry-cli serverless
  skaffold skopeo snap snyk socat sops speedtest sphinx-build sqlc sqlfluff ssh stack starship step stern
  strace stripe supabase supervisorctl svn swift syft tar tcpdump telnet texlive tflint tig tilt tmux tokei
  traceroute tree trivy typst unzip v vagrant valgrind valkey-cli vault vcpkg vegeta velero vercel
  virtualenv volta wasm-pack wasmtime watchexec watchman webpack websocat wget winget wireshark wrangler wrk
  xdg-open xh xmllint xz yq yt-dlp zellij zig zip zstd
`
  .trim()
  .split(/\s+/);
