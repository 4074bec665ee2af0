(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection '("loop-ls" "serve"))
                    :major-modes '(yaml-mode yaml-ts-mode json-mode js-json-mode json-ts-mode)
                    :priority 1 ; above yamlls, which then leaves these files alone
                    :server-id 'loop-ls)))
(add-hook 'yaml-mode-hook #'lsp-deferred)

;; M-x lsp-avy-lens, or a click on it, does what a lens says; this shows all of the newest run of the file
(defun loop-ls-open-run ()
  (interactive)
  (let* ((about `(:uri ,(lsp--buffer-uri) :limit 1))
         (runs (lsp-get (lsp-workspace-command-execute "loopLs.runs" (vector about)) :runs))
         (id (lsp-get (elt runs 0) :runId)))
    (find-file-other-window
     (lsp-get (lsp-workspace-command-execute "loopLs.history" (vector `(:runId ,id :show t))) :path))))
