;; What a person does in Emacs, as a batch. Each line of output is `name: value`; the last one says `done`.
;; EMACS_SETUP is the set-up of the README, EMACS_FILE the workflow that is opened.
(load (expand-file-name "emacs_common.el" (file-name-directory load-file-name)) nil t)

(find-file (getenv "EMACS_FILE"))
(connect)
(flymake-start) ; in a batch no idle timer starts it
(wait-for "diagnostics" #'flymake-diagnostics)
(dolist (one (flymake-diagnostics)) (say "diagnostic" (flymake-diagnostic-text one)))

(goto-char (point-min))
(search-forward "loop.last")
(let ((told (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
  (say "hover" (substring-no-properties (eglot--hover-info (plist-get told :contents)))))

;; typed behind the last argument
(goto-char (point-min))
(search-forward "{{loop.last.output}}\"")
(insert "\n        note: \"{{lo")
(let ((found (eglot-completion-at-point)))
  (say "completion"
       (mapcar #'substring-no-properties
               (all-completions (buffer-substring (nth 0 found) (nth 1 found)) (nth 2 found)))))
(delete-region (line-beginning-position) (line-end-position))
(delete-char -1)

(goto-char (point-min))
(search-forward "name: compose")
(eglot--signal-textDocument/didChange) ; in a batch no idle timer sends it
(eglot-rename "write")
(goto-char (point-min))
(say "renamed" (if (search-forward "- name: write" nil t) "yes" "no"))
(goto-char (point-max))
(say "used" (if (search-backward "{{write}}" nil t) "yes" "no"))

(loop-ls-run)
(wait-for "the end of the run" (lambda () ended))
(say "run" (car ended))
(loop-ls-open-run)
(say "transcript" (buffer-string))
(switch-to-buffer (get-file-buffer (getenv "EMACS_FILE")))
(set-buffer-modified-p nil)
(say "done" "yes")
(kill-emacs 0)
