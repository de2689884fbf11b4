/** Programs that developers have and that no action is written for: `run_command` takes them. Found by name only. */
export const wellKnown: readonly string[] = `
  7z ab act adb age air ansible-vault ant apt aria2c asciidoctor asdf atuin awk aws az b2 bash bat bison
  brew btop buf ccache certbot chezmoi choco circleci clojure cloudflared code-insiders consul convert
  cosign crane crystal cue dagger dbt dig direnv dive dnf doctl doppler doxygen dust dvc eas emacs entr
  envsubst esbuild exa expo eza fastlane ffmpeg firebase fish flatpak flex flyctl fossil gcloud gcov ghcup
  git-lfs gitleaks gleam gnuplot goreleaser gpg grpcurl gsutil gzip heroku hey htop hugo icdiff inkscape
  iperf3 ipython jar jekyll jless k3d k6 k9s kafkacat kcat kops krew kubectx kubens kustomize latexmk
  lazygit lcov libreoffice lima limactl linkerd locust lsof ltrace m4 magick mc mdbook mitmproxy mkcert
  mkdocs mockery mprocs multipass mypy-daemon nc netlify ngrok nim nimble nix nmap nomad nsenter ocaml op
  opa opam optipng ord overmind pacman pass patch patchelf pdflatex perf pg_ctl pgcli pm2 pngquant podman-
  compose pprof procs protolint psexec pulumi pv pyinstaller qemu-img railway rclone rebar3 redoc restic
  rsync sam sass scala scoop scp screen sed sentry-cli serverless skaffold skopeo snap snyk socat sops
  speedtest sphinx-build sqlc ssh starship step stern strace stripe supabase supervisorctl syft tar tcpdump
  telnet texlive tflint tig tilt tmux traceroute typst unzip v vault vegeta velero vercel virtualenv wasm-
  pack wasmtime watchexec watchman websocat wget winget wireshark wrangler wrk xdg-open xh xz yt-dlp zellij
  zip zsh zstd
`
  .trim()
  .split(/\s+/);
